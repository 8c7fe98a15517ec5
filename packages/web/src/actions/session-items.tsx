import type { KeyboardEvent } from 'react'
import type { KeyName } from '../keys/key-table.ts'
import { keyEntry } from '../keys/key-table.ts'
import { isKey, keysOf } from '../keys/match-key.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { MenuItem, MenuSeparator, Submenu } from '../ui/menu.tsx'
import { useActions } from './actions.tsx'
import { type ActionTarget, exportFormats } from './session-actions.ts'

const lostText = 'The connection is lost.'

/** The keys that work on a row of the list. */
const hint = (name: KeyName): string => keysOf(keyEntry(name).keys[0] ?? '').join('+')

/** The actions on a session, as items of a menu. Their keys work on a row of the list. */
export function SessionItems({ target, hasKeys }: { readonly target: ActionTarget; readonly hasKeys: boolean }) {
  const actions = useActions()
  const hold = useIsLost() ? lostText : null
  const keys = (name: KeyName) => (hasKeys ? { keys: hint(name) } : {})
  return (
    <>
      <MenuItem name="Rename…" hold={hold} {...keys('rowRename')} onChoose={() => actions.askName(target)} />
      <MenuItem
        name={target.pinned ? 'Unpin' : 'Pin'}
        hold={hold}
        {...keys('rowPin')}
        onChoose={() => actions.pin(target)}
      />
      <MenuItem name="Fork" hold={hold} {...keys('rowFork')} onChoose={() => actions.fork(target)} />
      {actions.mayShare && (
        <MenuItem name="Share…" hold={hold} {...keys('rowShare')} onChoose={() => actions.openShare(target)} />
      )}
      <Submenu name="Export">
        {exportFormats.map(([format, name]) => (
          <MenuItem key={format} name={name} hold={hold} onChoose={() => actions.export(target, format)} />
        ))}
      </Submenu>
      <MenuSeparator />
      <MenuItem
        name="Move to the trash"
        hold={hold}
        isDanger
        {...keys('rowDelete')}
        onChoose={() => actions.remove(target)}
      />
    </>
  )
}

/** Returns what the keys on a row of the list do. */
export function useRowKeys(): (event: KeyboardEvent, target: ActionTarget) => void {
  const actions = useActions()
  const isLost = useIsLost()
  return (event, target) => {
    if (isLost) return
    const works: readonly (readonly [KeyName, (target: ActionTarget) => unknown])[] = [
      ['rowRename', actions.askName],
      ['rowPin', actions.pin],
      ['rowFork', actions.fork],
      ['rowExport', actions.askFormat],
      ['rowDelete', actions.remove],
      ...(actions.mayShare ? ([['rowShare', actions.openShare]] as const) : []),
    ]
    const found = works.find(([name]) => isKey(event.nativeEvent, name))
    if (!found) return
    event.preventDefault()
    event.stopPropagation()
    found[1](target)
  }
}
