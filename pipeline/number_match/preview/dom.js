// Two ways to make elements. Text goes in as text nodes and nowhere as markup: a pack is data from outside.

/** An element: `make("button", {class: "key", onclick}, "text", child, …)`. Null children, false attributes: left out. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A title from the pack, kept from turning the text around it (a right-to-left title in a left-to-right line). */
export const title = (text) => make("bdi", { class: "title" }, text);

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
