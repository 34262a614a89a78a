// A table that is wider than the window is scrolled, by the keyboard too: so it can have the focus.
(() => {
  "use strict";

  const reach = () => {
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
      else wrap.removeAttribute("tabindex");
    }
  };

  addEventListener("resize", reach);
  addEventListener("load", reach);
  new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
})();
