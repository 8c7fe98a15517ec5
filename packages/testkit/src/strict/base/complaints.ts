import type { z } from 'zod'

type Found = string | null

/** The first complaint there is. Each is worked out only if those before it found nothing. */
export function firstComplaint(...complaints: readonly (Found | (() => Found))[]): Found {
  for (const complaint of complaints) {
    const found = typeof complaint === 'function' ? complaint() : complaint
    if (found !== null) return found
  }
  return null
}

/** The first complaint about any of `items`. */
export function complaintIn<Item>(items: readonly Item[], about: (item: Item, index: number) => Found): Found {
  for (const [index, item] of items.entries()) {
    const found = about(item, index)
    if (found !== null) return found
  }
  return null
}

/** What a schema has against a body, in one line. No service words it so; it means that our client is broken. */
export function shapeComplaint({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a request'}`
}

/** Whether a value spells half a surrogate pair anywhere, in a text or in a name. JSON can; UTF-8 cannot. */
export function hasUnpairedSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => !name.isWellFormed() || hasUnpairedSurrogate(inner))
}
