import { invariant } from '@holdfast/protocol'
import { createContext, type ReactNode, use, useMemo, useRef, useState } from 'react'
import { useKey } from '../keys/use-key.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { ExportDialog, RenameDialog } from './action-dialogs.tsx'
import { useHoldfast } from './holdfast-context.ts'
import { type ActionTarget, createSessionActions, type SessionActions } from './session-actions.ts'
import { ShareDialog, useMayShare } from './share-dialog.tsx'

/** What a person can do with a session, wherever it is shown. */
type PageActions = SessionActions & {
  readonly askName: (target: ActionTarget) => void
  readonly askFormat: (target: ActionTarget) => void
  readonly openShare: (target: ActionTarget) => void
  readonly mayShare: boolean
  /** Opens the dialog of the browser that chooses files to import. */
  readonly chooseImport: () => void
}

const ActionsContext = createContext<PageActions | null>(null)

export function useActions(): PageActions {
  const actions = use(ActionsContext)
  invariant(actions, 'this is drawn inside ActionsProvider only')
  return actions
}

type Asked = { readonly for: 'name' | 'format' | 'share'; readonly target: ActionTarget } | null

type ActionsProviderProps = { readonly onImported: () => void; readonly children: ReactNode }

/** Offers the actions to all below it, and draws the dialogs that they need. */
export function ActionsProvider({ onImported, children }: ActionsProviderProps) {
  const holdfast = useHoldfast()
  const mayShare = useMayShare()
  const isLost = useIsLost()
  const [asked, setAsked] = useState<Asked>(null)
  const [undo, setUndo] = useState<(() => void) | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const actions = useMemo((): PageActions => {
    const ask = (what: NonNullable<Asked>['for']) => (target: ActionTarget) => setAsked({ for: what, target })
    return {
      ...createSessionActions(holdfast, { onUndo: (next) => setUndo(() => next), onImported }),
      askName: ask('name'),
      askFormat: ask('format'),
      openShare: ask('share'),
      mayShare,
      chooseImport: () => picker.current?.click(),
    }
  }, [holdfast, mayShare, onImported])
  useKey('undo', () => undo?.(), undo !== null && !isLost)
  useKey('import', actions.chooseImport, !isLost)
  const close = () => setAsked(null)
  return (
    <ActionsContext value={actions}>
      {children}
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to import"
        onChange={({ target }) => {
          void actions.importFiles([...(target.files ?? [])])
          target.value = '' // the same file may be chosen again
        }}
      />
      {asked?.for === 'name' && (
        <RenameDialog target={asked.target} onRename={(title) => actions.rename(asked.target, title)} onClose={close} />
      )}
      {asked?.for === 'format' && (
        <ExportDialog onChoose={(format) => actions.export(asked.target, format)} onClose={close} />
      )}
      {asked?.for === 'share' && <ShareDialog session={asked.target.id} onClose={close} />}
    </ActionsContext>
  )
}
