/** How well a path fits what was typed; less is better, null is not at all. Case does not matter. */
export function rankPath(path: string, typed: string): number | null {
  const wanted = typed.toLowerCase()
  const whole = path.toLowerCase()
  const name = whole.slice(whole.lastIndexOf('/', whole.length - 2) + 1)
  if (whole.startsWith(wanted)) return 0
  if (name.startsWith(wanted)) return 1
  if (name.includes(wanted)) return 2
  if (whole.includes(wanted)) return 3
  return hasLettersInOrder(whole, wanted) ? 4 : null
}

/** Returns whether the letters occur in this order, with others between: `sidx` fits `src/index.ts`. */
function hasLettersInOrder(text: string, letters: string): boolean {
  let at = 0
  for (const letter of letters) {
    at = text.indexOf(letter, at)
    if (at < 0) return false
    at += letter.length
  }
  return true
}
