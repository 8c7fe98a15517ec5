import { type KeyName, keyEntry } from './key-table.ts'
import { keysOf } from './match-key.ts'

/** Shows the keys of a command, for menus and tooltips. Nothing if it has none. */
export function KeyHint({ of }: { readonly of: KeyName }) {
  const [first] = keyEntry(of).keys
  return first === undefined ? null : <Keys combination={first} />
}

/** Shows a combination, each key on its own. */
export function Keys({ combination }: { readonly combination: string }) {
  return (
    <span className="keys">
      {keysOf(combination).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}

/** Returns the keys as text, for `title`. Empty if there are none. */
export const keyText = (name: KeyName): string => {
  const [first] = keyEntry(name).keys
  return first === undefined ? '' : ` (${keysOf(first).join('+')})`
}

/** Returns the value of `aria-keyshortcuts`. */
export const ariaKeys = (name: KeyName): string | undefined =>
  keyEntry(name)
    .keys.map((keys) => keys.replace('Ctrl', 'Control'))
    .join(' ') || undefined
