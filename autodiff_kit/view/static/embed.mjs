// Steppers in a page of a documentation: each takes the place of its still picture. Made by view/embed.py, which joins
// it to the viewer and puts LOOKS, the text of kit.css, before it. Read first: kit/kit.mjs.

const THEME = "data-jp-theme-light"; // by which kit.css and the still pictures know what is around them

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Put a Stepper beside its still picture. A shadow root keeps the page's rules from it, and its own from the page. */
function replaceStill(host, sheet, greets) {
  const { payload, parts, step } = JSON.parse(host.querySelector("script").textContent);
  const live = make("div", { class: "autodiff-step-live" });
  const isCodeless = host.classList.contains("autodiff-step-codeless");
  const around = make("div", { class: isCodeless && "adk-codeless" });
  const shadow = live.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheet];
  shadow.append(around);
  host.append(live);
  const opened = Object.entries(parts).map(([key, [outer, text]]) => [key, { outer, bytes: bytesOf(text) }]);
  mount(around, bytesOf(payload), Object.fromEntries(opened), { step, alone: false, greets });
  (host.closest(".autodiff-step-container") ?? host).classList.add("autodiff-step-is-live");
  return [host, around];
}

const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** Whether text is light where an element stands: then the page is dark, whatever its theme calls that. */
function isOnDark(element) {
  brush.fillStyle = getComputedStyle(element).color; // in whatever colour space
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue] = brush.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}

/** Let Steppers be light or dark as the page is, and light on paper; the reader may change the theme at any time. */
function followTheme(steppers) {
  const paper = matchMedia("print");
  const follow = () => {
    for (const elements of steppers) {
      const isLight = String(paper.matches || !isOnDark(elements[0]));
      for (const element of elements) if (element.getAttribute(THEME) !== isLight) element.setAttribute(THEME, isLight);
    }
  };
  const followSoon = () => (follow(), setTimeout(follow, 500)); // themes may blend from one to the other
  const changes = new MutationObserver(followSoon);
  for (const element of [document.documentElement, document.body]) changes.observe(element, { attributes: true });
  for (const query of [paper, matchMedia("(prefers-color-scheme: dark)")]) query.addEventListener("change", followSoon);
  follow();
}

function begin() {
  if (!("DecompressionStream" in window && "adoptedStyleSheets" in document)) return; // pictures stay
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(LOOKS);
  const hosts = [...document.querySelectorAll(".autodiff-step")];
  followTheme(hosts.map((host, k) => replaceStill(host, sheet, k === 0)));
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
