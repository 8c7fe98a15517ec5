const comments = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm
const strings = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g
const typeDeclarations =
  /^(?:export )?type \w+(?:<[\s\S]*?>)? =[\s\S]*?(?=\n\n|\n(?:export|const|function|type)\b|$(?![\s\S]))/gm

/**
 * Whether a source file reads a field of an object: `view.field`, or `field` taken out of a parameter or a value. Its name in
 * a comment, a text, a type, an import or a key of a new object does not count.
 */
export function readsField(source: string, field: string): boolean {
  const code = source
    .replace(comments, '')
    .replace(strings, "''")
    .replace(/^import [\s\S]*?from ''$/gm, '')
    .replace(typeDeclarations, '')
  const access = new RegExp(`(?<!\\.\\.)\\??\\.${field}\\b`)
  // A pattern is followed by its type, its value, or the arrow of its function; a name after a colon is another field's.
  const taken = new RegExp(
    `\\{[^{}]*(?<![:.\\w]\\s*)\\b${field}\\b(?!\\s*\\()[^{}]*\\}\\s*(?:\\}[^{}=]*)*(?:=(?!=)|:|\\)\\s*(?:=>|:))`,
  )
  return access.test(code) || taken.test(code)
}
