/**
 * Returns a function that puts the names of public types back into a type's text. The compiler forgets the name of a
 * type that is derived from a schema, and prints its fields instead. The text of a declaration keeps the fields.
 */
export function createTypeNames(
  types: readonly (readonly [name: string, text: string])[],
): (text: string, declared?: string) => string {
  const forgotten = types
    .map(([name, text]) => [name, unbranded(text)] as const)
    .filter(([name, text]) => isWorthNaming(text) && !new RegExp(`^${name}\\b`).test(text))
    .sort(([, a], [, b]) => b.length - a.length)
  const publicNames = new Set(types.map(([name]) => name))
  /** A public name for a type that another library names, such as Zod's JSON. */
  const renamed = types.filter(([name, text]) => /^[A-Z]\w+$/.test(text) && text !== name && !publicNames.has(text))
  const withPublicNames = (text: string) =>
    renamed.reduce((shown, [name, theirs]) => shown.replaceAll(new RegExp(`\\b${theirs}\\b`, 'g'), name), text)
  return (text, declared) =>
    withPublicNames(
      forgotten
        .reduce(
          (shorter, [name, long]) => (name === declared ? shorter : shorter.replaceAll(long, name)),
          unbranded(text),
        )
        .replaceAll(/\((\w+)\)\[\]/g, '$1[]'),
    )
}

const isWorthNaming = (text: string) => text.startsWith('{') || (text.includes(' | ') && text.length > 20)

/** An id is `string & $brand<'SessionId'>` to the compiler. */
const unbranded = (text: string) =>
  text.replaceAll(/(?:string|number) & \$brand<'(\w+)'>/g, '$1').replaceAll(/(?<=[ :<])\((\w+)\)/g, '$1')
