/**
 * Returns the element with this id. Throws if index.html does not contain it.
 *
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html lacks #${id}`);
  return found;
}

/**
 * Creates an element. Strings become text nodes, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/**
 * Creates an SVG element with attributes.
 *
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | number>>} attributes
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function makeSvg(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}
