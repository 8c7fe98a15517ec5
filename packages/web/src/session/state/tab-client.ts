import { createCommandId } from '@holdfast/protocol'

const key = 'holdfast.client'

/** Who this tab is to every session it opens. A reload is the same client, so that it does not lose its own seat to itself. */
export function tabClient(): string {
  const known = sessionStorage.getItem(key)
  if (known !== null) return known
  const made = `page-${createCommandId().slice(0, 6)}`
  sessionStorage.setItem(key, made)
  return made
}
