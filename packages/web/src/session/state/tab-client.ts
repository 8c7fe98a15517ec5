import { createCommandId } from '@holdfast/protocol'

const key = 'holdfast.client'

/** The client id of this tab. It survives a reload, so that the tab stays the driver. */
export function tabClient(): string {
  const known = sessionStorage.getItem(key)
  if (known !== null) return known
  const made = `page-${createCommandId().slice(0, 6)}`
  sessionStorage.setItem(key, made)
  return made
}
