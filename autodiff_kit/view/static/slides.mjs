// A page for slides: as large as the window, stepped by the keys that a presenter sends. Made by view/page.py.

const PAGE_WIDTH = 1080; // px, that the page is laid out for and then enlarged to the window
const REMOTE = {
  ArrowRight: "forward", ArrowDown: "forward", PageDown: "forward", " ": "forward",
  ArrowLeft: "back", ArrowUp: "back", PageUp: "back", Home: "first", End: "last",
};

function present(main) {
  function fill() {
    const isWide = innerWidth >= innerHeight; // else it is a page to scroll, as without slides
    document.body.classList.toggle("adk-slides", isWide);
    const scale = innerWidth / PAGE_WIDTH;
    const size = [`${PAGE_WIDTH}px`, `${innerHeight / scale}px`, `scale(${scale})`].map((text) => (isWide ? text : ""));
    [main.style.width, main.style.height, main.style.transform] = size;
  }
  addEventListener("resize", fill);
  fill();
  const take = (event) => {
    const name = REMOTE[event.key];
    const hasOwn = event.target.matches("select, [type=search]") || (event.key === " " && event.target.matches("button"));
    if (!name || hasOwn || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    main.querySelector(`.adk-transport .adk-${name}`)?.click();
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("keydown", take, { capture: true }); // before the graph, where arrows go from box to box
}
present(document.getElementById("adk-stepper"));
