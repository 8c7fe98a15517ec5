import type { z } from 'zod'

type Found = string | null

/** Returns the first complaint, evaluating lazily. */
export function firstComplaint(...complaints: readonly (Found | (() => Found))[]): Found {
  for (const complaint of complaints) {
    const found = typeof complaint === 'function' ? complaint() : complaint
    if (found !== null) return found
  }
  return null
}

/** Returns the first complaint about any of `items`. */
export function complaintIn<Item>(items: readonly Item[], about: (item: Item, index: number) => Found): Found {
  for (const [index, item] of items.entries()) {
    const found = about(item, index)
    if (found !== null) return found
  }
  return null
}

/** Returns a schema error in one line. The message is ours, because only a bug in our client causes it. */
export function shapeComplaint({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a request'}`
}

/** Returns whether any text or key in a value has an unpaired surrogate. JSON allows it; UTF-8 does not. */
export function hasUnpairedSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => !name.isWellFormed() || hasUnpairedSurrogate(inner))
}
