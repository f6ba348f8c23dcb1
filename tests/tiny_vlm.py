"""Tiny models with random weights, saved as a user would find them: made offline, in a moment."""

SPECIAL = ["<pad>", "<s>", "</s>", "<image>", "<turn>"]
IMAGE = SPECIAL.index("<image>")
GRID = [[56, 112], [112, 56], [112, 112]]  # pixels, of which the patches are cut
SENTENCES = [
    "The forecast follows the trend of the truth, and its peaks come at the same steps.",
    'Reply with one JSON object: {"rationale": "", "score": 3}',
    "Scale: 5: alike, 4: close, 3: fair, 2: poor, 1: unlike. History, Truth and Forecast.",
]
TEMPLATE = (
    "{% for m in messages %}<turn>{{ m.role }}\n"
    "{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for c in m.content %}{% if c.type == 'image' %}<image>{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}{% endif %}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)


def save_tiny_vlm(
    folder, *, seed=0, template=TEMPLATE, tokenizer=None, width=32, layers=2, endless=False
):
    """Save a LLaVA-NeXT model of random weights with its processor; return its folder.

    An `endless` one neither closes a string nor ends its answer.
    """
    import torch
    from transformers import (
        CLIPVisionConfig,
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextProcessor,
    )
    from transformers.models.llava_next.image_processing_pil_llava_next import (
        LlavaNextImageProcessorPil,
    )

    tokenizer = tokenizer or make_tokenizer()
    torch.manual_seed(seed)
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=56,
            patch_size=14,
            projection_dim=32,
        ),
        text_config=_text_config(len(tokenizer), width, layers),
        image_token_index=IMAGE,
        image_token_id=IMAGE,
        image_grid_pinpoints=GRID,
        vision_feature_layer=-1,
    )
    processor = LlavaNextProcessor(
        image_processor=LlavaNextImageProcessorPil(
            size={"shortest_edge": 56},
            crop_size={"height": 56, "width": 56},
            image_grid_pinpoints=GRID,
        ),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=template,
    )
    model = LlavaNextForConditionalGeneration(config)
    if endless:
        ending = [token for text, token in tokenizer.get_vocab().items() if '"' in text]
        # Among hundreds of random logits, zero is never the largest.
        model.lm_head.weight.data[[*ending, tokenizer.eos_token_id]] = 0.0
    return _saved(folder, model, processor)


def save_tiny_llm(folder, *, seed=0, template=TEMPLATE, tokenizer=None):
    """Save a Llama model of random weights, which takes no images; return its folder."""
    import torch
    from transformers import LlamaForCausalLM

    tokenizer = tokenizer or make_tokenizer()
    tokenizer.chat_template = template
    torch.manual_seed(seed)
    return _saved(folder, LlamaForCausalLM(_text_config(len(tokenizer), 32, 2)), tokenizer)


def make_tokenizer(
    *, single_digits=True, sentences=SENTENCES, replace=None, spaces="bytes", starts=False, size=480
):
    """Make a tokenizer of byte pairs.

    `replace` rewrites a text before it is split, ``spaces="before"`` puts a space before a text
    as SentencePiece does, and `starts` puts ``<s>`` there.
    """
    from tokenizers import (
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    if replace:
        tokenizer.normalizer = normalizers.Replace(Regex(replace[0]), replace[1])
    if spaces == "before":
        split, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        split.prepend_scheme = tokenizer.decoder.prepend_scheme = "first"
        alphabet = ["\n", *map(chr, range(32, 127))]
    else:
        split, tokenizer.decoder = (
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoders.ByteLevel(),
        )
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    digits = [pre_tokenizers.Digits(individual_digits=True)] * single_digits
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*digits, split])
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(sentences * 20, trainer)
    if starts:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", SPECIAL.index("<s>"))]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )


def _text_config(vocabulary, width, layers):
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        pad_token_id=SPECIAL.index("<pad>"),
        bos_token_id=SPECIAL.index("<s>"),
        eos_token_id=SPECIAL.index("</s>"),
        initializer_range=1.1 / width**0.5,  # smaller: all next tokens are about as probable
    )


def _saved(folder, model, processor):
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
