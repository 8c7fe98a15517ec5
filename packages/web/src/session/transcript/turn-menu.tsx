import type { Message } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { isBusy } from '../../text/format.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { goTo } from '../../ui/route.ts'
import { ChangesDialog } from '../files/changes-dialog.tsx'
import { RestoreDialog } from '../files/restore-dialog.tsx'
import { RewindDialog } from '../files/rewind-dialog.tsx'
import {
  runningText,
  ShownOnlyContext,
  useLive,
  useSession,
  whyHistoryLocked,
  whyReadOnly,
} from '../state/session-context.ts'

type Prompt = Extract<Message, { readonly kind: 'user' }>
type Shown = 'changes' | 'restore' | 'rewind'
type TurnMenuProps = {
  readonly prompt: Prompt
  /** Edits the prompt in its place. Without it, it cannot be edited. */
  readonly onEdit?: () => void
}

/** Offers to branch, fork or rewind at a turn. */
export function TurnMenu({ prompt, onEdit }: TurnMenuProps) {
  const [shown, setShown] = useState<Shown | null>(null)
  const close = () => setShown(null)
  if (useContext(ShownOnlyContext)) return null
  return (
    <>
      <Menu
        label="This turn"
        className="wide"
        trigger={
          <button
            type="button"
            className="quiet icon-button"
            aria-label="Branch, fork or rewind"
            title="Branch, fork or rewind"
          >
            <svg className="dots" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" />
            </svg>
          </button>
        }
      >
        <TurnChoices prompt={prompt} {...(onEdit && { onEdit })} onShow={setShown} />
      </Menu>
      {shown === 'restore' && (
        <RestoreDialog request={{ message: prompt.id }} title="as they were before this prompt" onClose={close} />
      )}
      {shown === 'rewind' && <RewindDialog prompt={prompt} onClose={close} />}
      {shown === 'changes' && (
        <ChangesDialog request={{ turn: prompt.turn }} title="Changes of this turn" onClose={close} />
      )}
    </>
  )
}

type TurnChoicesProps = TurnMenuProps & {
  readonly onShow: (what: Shown) => void
}

function TurnChoices({ prompt, onEdit, onShow }: TurnChoicesProps) {
  const { asks } = useSession()
  const { turn } = prompt
  const watching = useLive(whyReadOnly)
  const hold = useLive(whyHistoryLocked)
  const isLast = useLive(({ messages }) => messages.at(-1)?.turn === turn)
  const isRunning = useLive(({ view }) => view !== null && isBusy(view.status))

  const fork = async () => {
    const made = await asks.fork(turn)
    if (made.ok) goTo({ at: 'session', name: made.value })
  }
  return (
    <>
      {onEdit && (
        <MenuItem
          name="Edit and send again"
          text="Get a new answer. The old one is saved as a branch."
          hold={hold}
          onChoose={onEdit}
        />
      )}
      <MenuItem
        name="Branch from here"
        text="Go back to the end of this turn, as a branch."
        hold={hold ?? (isLast ? 'This is the last turn.' : null)}
        onChoose={() => asks.branchAt(turn)}
      />
      <MenuItem
        name="Fork from here"
        text="Start a new session with the turns up to here."
        hold={watching ?? (isLast && isRunning ? runningText : null)}
        onChoose={fork}
      />
      <MenuItem
        name="Rewind to here…"
        text="Go back to before this prompt, with a preview."
        hold={hold}
        onChoose={() => onShow('rewind')}
      />
      <MenuItem
        name="Changes of this turn"
        text="Show what this turn did to files."
        hold={null}
        onChoose={() => onShow('changes')}
      />
      <MenuItem
        name="Restore files to here"
        text="Put files back. The messages stay."
        hold={hold}
        onChoose={() => onShow('restore')}
      />
    </>
  )
}
