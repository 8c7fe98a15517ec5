/** Whether a value spells half a surrogate pair anywhere, in a text or in a name. JSON can; UTF-8 cannot. */
export function hasUnpairedSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => !name.isWellFormed() || hasUnpairedSurrogate(inner))
}
