/**
 * Returns a function that puts the names of public types back into a type's text. The compiler forgets the name of a
 * type that is derived from a schema, and prints its fields instead.
 */
export function createTypeNames(types: readonly (readonly [name: string, text: string])[]): (text: string) => string {
  const forgotten = types
    .map(([name, text]) => [name, unbranded(text)] as const)
    .filter(([name, text]) => isWorthNaming(text) && !new RegExp(`^${name}\\b`).test(text))
    .sort(([, a], [, b]) => b.length - a.length)
  return (text) =>
    forgotten
      .reduce((shorter, [name, long]) => shorter.replaceAll(long, name), unbranded(text))
      .replaceAll(/\((\w+)\)\[\]/g, '$1[]')
}

const isWorthNaming = (text: string) => text.startsWith('{') || (text.includes(' | ') && text.length > 20)

/** An id is `string & $brand<'SessionId'>` to the compiler. */
const unbranded = (text: string) =>
  text.replaceAll(/(?:string|number) & \$brand<'(\w+)'>/g, '$1').replaceAll(/(?<=[ :<])\((\w+)\)/g, '$1')
