import { type Message, TurnNumber } from '@holdfast/protocol'
import { type ToggleEvent, useContext, useEffect, useId, useRef, useState } from 'react'
import { isBusy } from '../../text/format.ts'
import { focusIfFree } from '../../ui/dialog.tsx'
import { onArrows } from '../../ui/header-menu.tsx'
import { goTo } from '../../ui/route.ts'
import { ChangesDialog } from '../files/changes-dialog.tsx'
import { RestoreDialog } from '../files/restore-dialog.tsx'
import {
  runningText,
  ShownOnlyContext,
  useLive,
  useSession,
  whyHistoryLocked,
  whyReadOnly,
} from '../state/session-context.ts'

type Prompt = Extract<Message, { readonly kind: 'user' }>
type TurnMenuProps = { readonly prompt: Prompt }

/** Offers to branch, fork or rewind at a turn. Its choices are drawn when it is opened. */
export function TurnMenu({ prompt }: TurnMenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [shown, setShown] = useState<'changes' | 'restore' | null>(null)
  const close = () => {
    setShown(null)
    focusIfFree(button.current)
  }

  const onBeforeToggle = (event: ToggleEvent) => {
    setOpen(event.newState === 'open')
    position(panel.current, button.current)
  }
  useEffect(() => {
    if (!isOpen) return
    const onMove = () => position(panel.current, button.current)
    addEventListener('scroll', onMove, true)
    addEventListener('resize', onMove)
    return () => {
      removeEventListener('scroll', onMove, true)
      removeEventListener('resize', onMove)
    }
  }, [isOpen])
  if (useContext(ShownOnlyContext)) return null
  return (
    <>
      <button
        ref={button}
        type="button"
        className="quiet icon-button"
        aria-label="Branch, fork or rewind"
        title="Branch, fork or rewind"
        popoverTarget={id}
      >
        <svg className="dots" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" />
        </svg>
      </button>
      <section
        ref={panel}
        id={id}
        className="turn-menu"
        popover="auto"
        aria-label="This turn"
        onBeforeToggle={onBeforeToggle}
        onKeyDown={onArrows}
      >
        {isOpen && <TurnChoices prompt={prompt} onDone={() => panel.current?.hidePopover()} onShow={setShown} />}
      </section>
      {shown === 'restore' && (
        <RestoreDialog request={{ message: prompt.id }} title="as they were before this prompt" onClose={close} />
      )}
      {shown === 'changes' && (
        <ChangesDialog request={{ turn: prompt.turn }} title="Changes of this turn" onClose={close} />
      )}
    </>
  )
}

type TurnChoicesProps = TurnMenuProps & {
  readonly onDone: () => void
  readonly onShow: (what: 'changes' | 'restore') => void
}

function TurnChoices({ prompt, onDone, onShow }: TurnChoicesProps) {
  const { asks, takeBack } = useSession()
  const { turn } = prompt
  const watching = useLive(whyReadOnly)
  const hold = useLive(whyHistoryLocked)
  const isLast = useLive(({ messages }) => messages.at(-1)?.turn === turn)
  const isRunning = useLive(({ view }) => view !== null && isBusy(view.status))

  const fork = async () => {
    onDone()
    const made = await asks.fork(turn)
    if (made.ok) goTo({ at: 'session', name: made.value })
  }
  const rewind = async () => {
    onDone()
    const isFirst = prompt.parent === null || turn === 0
    const refused = await asks.rewind(isFirst ? null : TurnNumber.parse(turn - 1))
    if (!refused && !prompt.child) takeBack?.(prompt.text) // nobody wrote the result of a subagent
  }
  const show = (what: 'changes' | 'restore') => {
    onDone()
    onShow(what)
  }
  const branch = () => {
    onDone()
    asks.branchAt(turn)
  }
  return (
    <>
      <Choice
        name="Branch from here"
        text="Go back to the end of this turn. What came after it is saved as a branch."
        hold={hold ?? (isLast ? 'This is the last turn.' : null)}
        onChoose={branch}
      />
      <Choice
        name="Fork from here"
        text="Start a new session with everything up to the end of this turn. This session does not change."
        hold={watching ?? (isLast && isRunning ? runningText : null)}
        onChoose={fork}
      />
      <Choice
        name="Rewind to here"
        text="Go back to before this prompt and edit it. The prompt and what came after it are saved as a branch. Files stay as they are."
        hold={hold}
        onChoose={rewind}
      />
      <Choice
        name="Changes of this turn"
        text="Show what this turn did to files, as one diff a file."
        hold={null}
        onChoose={() => show('changes')}
      />
      <Choice
        name="Restore files to here"
        text="Put files back as they were before this prompt. You see a preview first. The messages stay."
        hold={hold}
        onChoose={() => show('restore')}
      />
    </>
  )
}

type ChoiceProps = {
  readonly name: string
  readonly text: string
  /** Why it is disabled, or null. */
  readonly hold: string | null
  readonly onChoose: () => void
}

function Choice({ name, text, hold, onChoose }: ChoiceProps) {
  const id = useId()
  return (
    <button
      type="button"
      className="choice"
      aria-label={name}
      aria-describedby={id}
      disabled={hold !== null}
      title={hold ?? undefined}
      onClick={onChoose}
    >
      <strong>{name}</strong>
      <span id={id}>{hold ?? text}</span>
    </button>
  )
}

const gapPx = 4
const edgePx = 14

/** Positions the panel below or above its button, where there is more room. */
function position(panel: HTMLElement | null, button: HTMLElement | null): void {
  if (!panel || !button) return
  const { left, top, bottom } = button.getBoundingClientRect()
  const isLow = top > innerHeight - bottom
  panel.style.top = isLow ? 'auto' : `${bottom + gapPx}px`
  panel.style.bottom = isLow ? `${innerHeight - top + gapPx}px` : 'auto'
  panel.style.left = `${Math.max(edgePx, Math.min(left, innerWidth - widthPx - edgePx))}px`
}

const widthPx = 330 // as in history.css
