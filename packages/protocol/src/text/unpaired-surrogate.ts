/**
 * Returns whether a text in a value, or the name of a field, has an unpaired surrogate. UTF-8 cannot store one, so it
 * would come back as another character.
 */
export function hasUnpairedSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
  if (Array.isArray(value)) return value.some(hasUnpairedSurrogate)
  return Object.entries(value).some(([name, field]) => !name.isWellFormed() || hasUnpairedSurrogate(field))
}
