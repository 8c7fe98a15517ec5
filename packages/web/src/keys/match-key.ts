import { type KeyName, keyEntry } from './key-table.ts'

/** The fields of a keyboard event that matching uses. */
export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey' | 'isComposing' | 'keyCode'
>

export const isMac = (platform = globalThis.navigator?.platform ?? ''): boolean => /^(Mac|iP)/.test(platform)

/** Returns whether a key was pressed that the table names so, such as `palette`. */
export const isKey = (press: KeyPress, name: KeyName): boolean =>
  keyEntry(name).keys.some((combination) => matchesKey(press, combination))

/** Returns whether a key was pressed that is written as `Ctrl+Shift+O`. */
export function matchesKey(press: KeyPress, combination: string, onMac = isMac()): boolean {
  if (press.isComposing || press.keyCode === 229) return false // Safari ends a composition with 229
  const parts = combination.split('+')
  const key = parts.at(-1) ?? ''
  const [command, other] = onMac ? [press.metaKey, press.ctrlKey] : [press.ctrlKey, press.metaKey]
  if (other || command !== parts.includes('Ctrl') || press.altKey !== parts.includes('Alt')) return false
  // A sign such as ? is written with Shift on some keyboards, and without on others.
  const isSign = key.length === 1 && !/[A-Z]/.test(key)
  if (!isSign && press.shiftKey !== parts.includes('Shift')) return false
  // With Alt a letter may be another sign, so its place on the keyboard counts.
  return press.key.toUpperCase() === key.toUpperCase() || (press.altKey && press.code === `Key${key}`)
}

const signs: { readonly [key: string]: string } = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  Delete: 'Del',
}
const macSigns: { readonly [key: string]: string } = { Ctrl: '⌘', Shift: '⇧', Alt: '⌥', Enter: '↩' }

/** Returns a combination as people read it: its keys one by one. */
export const keysOf = (combination: string, onMac = isMac()): readonly string[] =>
  combination.split('+').map((key) => (onMac ? macSigns[key] : undefined) ?? signs[key] ?? key)
