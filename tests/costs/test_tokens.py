"""Tokens of pictures by the providers' published formulas, and of texts by their characters."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timevista_hf.costs import image_tokens, text_tokens
from timevista_hf.costs._tokens import IMAGE_RULES, tokens_by_rule

SIDES = st.integers(1, 5000)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4.6", 774),  # 43 × 18 patches of 28
        ("claude-opus-5.5", 774),
        ("gpt-5.4", 730),  # 38 × 16 patches of 32 = 608; × 1.2 = 729.6
        ("gpt-4o", 595),  # 3 × 1 tiles of 512: 85 + 3 · 170
        ("gpt-4o-mini", 19834),  # 2,833 + 3 · 5,667
        ("gpt-5", 490),  # 70 + 3 · 140
        ("o3", 525),  # 75 + 3 · 150
        ("gpt-5-nano", 912),  # 608 · 1.5
        ("gpt-4.1-mini", 985),  # 608 · 1.62 = 984.96
        ("gpt-4.1-nano", 1496),  # 608 · 2.46 = 1,495.68
        ("o4-mini", 1046),  # 608 · 1.72 = 1,045.76
        ("gemini-3.1-pro-preview", 1120),  # the cap of high resolution
        ("gemini-2.5-flash", 2064),  # unit 333: 4 × 2 tiles of 258
        ("Qwen/Qwen2.5-VL-7B-Instruct", 774),  # 43 × 18 of 28
        ("Qwen/Qwen3-VL-8B-Instruct", 608),  # 38 × 16 of 32
    ],
)
def test_a_default_plot_counts_as_the_provider_counts_it(model, tokens):
    assert image_tokens(model, 1200, 500).tokens == tokens


def test_a_provider_that_enlarges_small_pictures_has_a_rule_of_its_own():
    # The shorter side becomes 768, the longer 1,843.2: 4 × 2 tiles, 85 + 8 · 170.
    assert tokens_by_rule("gpt-4o-enlarged", 1200, 500).tokens == 1445


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        # Billed tokens as published for ten sizes in high detail (a measurement by others).
        ((256, 256), 77),
        ((512, 512), 308),
        ((768, 768), 692),
        ((1024, 1024), 1229),
        ((1280, 720), 1104),
        ((1920, 1080), 2448),
        ((1080, 1920), 2448),
        ((2560, 1440), 2931),
        ((3840, 2160), 2931),
        ((4032, 3024), 2942),
    ],
)
def test_the_patches_of_gpt_equal_a_published_measurement(size, tokens):
    assert image_tokens("openai:gpt-5.5", *size).tokens == tokens


@pytest.mark.parametrize(
    ("size", "billed"),
    [
        ((256, 256), 165),
        ((512, 512), 426),
        ((768, 768), 849),
        ((1024, 1024), 1434),
        ((1280, 720), 1261),
        ((1920, 1080), 1625),
        ((1080, 1920), 1625),
    ],
)
def test_claude_4_5_equals_a_published_measurement_less_its_65_tokens_of_text(size, billed):
    assert image_tokens("claude-haiku-4-5", *size).tokens == billed - 65


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("claude-sonnet-4-5", (1920, 1080), 52 * 30),  # shrunk to 1456 × 819
        ("claude-sonnet-4-5", (1075, 1520), 33 * 47),  # shrunk to 924 × 1307
        ("claude-opus-4-7", (1920, 1080), 69 * 39),  # not shrunk
        ("claude-opus-4-7", (3840, 2160), 92 * 52),  # shrunk to 2576 × 1449
    ],
)
def test_claude_shrinks_to_the_sizes_that_its_documentation_gives(model, size, tokens):
    assert image_tokens(model, *size).tokens == tokens


@pytest.mark.parametrize(("size", "tokens"), [((1024, 1024), 765), ((2048, 4096), 1105)])
def test_the_tiles_of_gpt_4o_equal_the_documented_examples(size, tokens):
    assert image_tokens("gpt-4o", *size).tokens == tokens


def test_the_tiles_of_gemini_2_equal_the_documented_example():
    assert image_tokens("gemini-2.5-pro", 960, 540).tokens == 6 * 258


@pytest.mark.parametrize(
    ("size", "tiles"),
    [((3840, 2160), 5 * 3), ((1000, 300), 4 * 2)],  # units of 1,440 and 200 become 768 and 256
)
def test_the_tiles_of_gemini_2_are_neither_too_large_nor_too_small(size, tiles):
    assert image_tokens("gemini-2.5-pro", *size).tokens == tiles * 258


def test_gemini_2_bills_one_tile_for_a_small_picture():
    assert image_tokens("gemini-2.5-pro", 384, 384).tokens == 258


@pytest.mark.parametrize(
    ("resolution", "tokens"), [("low", 280), ("medium", 560), ("high", 1120), ("ultra_high", 2240)]
)
def test_gemini_3_bills_by_media_resolution(resolution, tokens):
    assert image_tokens("gemini-4-argon", 90, 9000, media_resolution=resolution).tokens == tokens


def test_qwen2_vl_shrinks_to_its_most_pixels():
    # 4,000 × 2,000 is √(8,000,000 / 1,003,520) = 2.8235 too wide: 50.6 and 25.3 patches.
    assert image_tokens("qwen2-vl", 4000, 2000).tokens == 50 * 25


def test_qwen3_vl_enlarges_to_its_least_pixels():
    # 64 × 64 grows to 65,536 pixels: 256 / 32 = 8 patches a side.
    assert image_tokens("qwen3-vl", 64, 64).tokens == 64


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("openai", "gpt-5.4"),
        ("anthropic", "claude-high-resolution"),
        ("gemini", "gemini-3"),
        ("openai:gpt-5.4-mini-2026-03-17", "gpt-5.4"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5.1", "gpt-5"),
        ("gpt-5-mini", "gpt-5-mini"),
        ("gpt-4.1-2025-04-14", "gpt-4o"),
        ("claude-3-5-sonnet-20241022", "claude"),
        ("claude-sonnet-4-20250514", "claude"),
        ("claude-opus-4.6", "claude"),
        ("claude-opus-4-7", "claude-high-resolution"),
        ("claude-sonnet-5", "claude-high-resolution"),
        ("gemini-1.5-flash", "gemini-2"),
        ("gemini-flash-latest", "gemini-3"),
        ("hf:Qwen/Qwen3-VL-8B-Instruct:fireworks-ai", "qwen3-vl"),
        ("server:http://localhost:8000/v1#Qwen/Qwen2-VL-7B", "qwen2-vl"),
        ("server:http://localhost:11434/v1#qwen2.5vl:7b", "qwen2-vl"),
        ("local:/models/gpt-4o/Qwen3-VL-2B/", "qwen3-vl"),
    ],
)
def test_a_rule_is_found_by_the_name_of_a_judge_model_or_provider(model, rule):
    assert image_tokens(model, 1200, 500).rule == rule


@pytest.mark.parametrize("model", ["hf:meta-llama/Llama-4-Maverick", "o3-mini", "not-gpt-4o", "x"])
def test_an_unknown_model_is_flagged_and_counted_by_patches_of_28_pixels(model):
    counted = image_tokens(model, 1200, 500)
    assert (counted.tokens, counted.known) == (43 * 18, False)
    assert counted.rule == "one token a patch of 28×28 pixels"


@given(st.sampled_from(sorted(IMAGE_RULES)), SIDES, SIDES)
def test_every_rule_bills_every_picture_and_none_beyond_its_cap(rule, width, height):
    caps = {"claude": 1568, "claude-high-resolution": 4784, "gpt-5.4": 3000, "gpt-5-mini": 1844}
    # Qwen's model sees no more than its most pixels, unless one side is a single patch.
    caps |= {"qwen2-vl": 1280 + 5000 // 28, "qwen3-vl": 16384}
    assert 1 <= tokens_by_rule(rule, width, height).tokens <= caps.get(rule, math.inf)


@given(st.sampled_from(["gpt-5.4", "gpt-4o", "claude", "gemini-2", "qwen3-vl"]), SIDES, SIDES)
def test_a_picture_on_its_side_costs_the_same(rule, width, height):
    assert tokens_by_rule(rule, width, height) == tokens_by_rule(rule, height, width)


def test_a_picture_without_width_is_refused():
    with pytest.raises(ValueError, match="`width` must be at least 1 pixel, got 0"):
        image_tokens("gpt-5.4", 0, 500)


def test_an_unknown_media_resolution_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"media resolution 'hi'.* Known: low, medium, high"):
        image_tokens("gemini", 1, 1, media_resolution="hi")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("eight ch", 2),
        ("1234", 2),  # digits go two to a token
        ("ab, 12", 3),  # 3 / 4 letters and spaces, 3 / 2 digits and signs: 2.25
        ("趋势", 2),  # beyond ASCII, one each
    ],
)
def test_texts_count_by_their_characters(text, tokens):
    assert text_tokens(text) == tokens


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(text, more):
    assert text_tokens(text) <= text_tokens(text + more)
