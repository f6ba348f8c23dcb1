// Keys press the buttons of the page, but never while a text is being typed.
(() => {
  const KEYS = { 1: "rate-1", 2: "rate-2", 3: "rate-3", 4: "rate-4", 5: "rate-5",
    0: "skip", s: "skip", u: "undo" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing) {
      if (event.key === "Escape") typing.blur();
      return;
    }
    if (event.key === "c") {
      document.querySelector("#comment textarea")?.focus();
      event.preventDefault();
      return;
    }
    const button = document.getElementById(KEYS[event.key.toLowerCase()]);
    if (!button || button.disabled) return;
    button.click();
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#scale button, #skip, #undo")) window.scrollTo(0, 0);
  });
})();
