import type { Fault, Mode, SessionView } from '@holdfast/protocol'
import { useState } from 'react'
import { isBusy } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { MessageBox } from '../../ui/message-box.tsx'
import type { DraftText } from '../state/draft-text.ts'
import type { Commands, PromptKind } from '../state/use-commands.ts'
import { CommandMenu, optionId, useCommandMenu } from './command-menu.tsx'

type ComposerProps = {
  readonly draft: DraftText
  readonly view: SessionView
  readonly commands: Pick<Commands, 'send' | 'stop' | 'setMode'>
  readonly isWatching: boolean
  readonly hasFolder: boolean
  readonly isStoreRefusing: boolean
  readonly onRecall: () => void
}

/** The input box. Refused text stays in it, with the reason. */
export function Composer(props: ComposerProps) {
  const { draft, view, commands, isWatching, hasFolder, isStoreRefusing, onRecall } = props
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const busy = isBusy(view.status)
  const menu = useCommandMenu(draft)

  const send = async (as: PromptKind) => {
    const sent = draft.current()
    if (sent.trim() === '' || isSending) return
    setSending(true)
    const refused = await commands.send(sent, as)
    setSending(false)
    setFault(refused)
    if (refused) return
    // Text typed while it was being sent stays.
    const now = draft.current()
    draft.write(now.startsWith(sent) ? now.slice(sent.length) : now)
  }
  const isOff = draft.text.trim() === '' || isSending

  // Once the store accepts writes again, or the session has a folder, the error is out of date.
  const isOver =
    (fault?.code === 'storage_error' && !isStoreRefusing) || (fault?.code === 'workdir_needed' && hasFolder)

  return (
    <div className="composer">
      {!isOver && <FaultNote fault={fault} />}
      <CommandMenu {...menu} />
      <div className="composer-box">
        <MessageBox
          value={draft.text}
          onChange={draft.write}
          onSend={() => send('sendPrompt')}
          onFollowUp={() => send('queueFollowUp')}
          onRecall={onRecall}
          placeholder={placeholderOf(isWatching, busy)}
          onKey={menu.onKey}
          completion={menu.found.length > 0 ? { listId: menu.listId, optionId: optionId(menu.listId, menu.at) } : null}
        />
        <div className="composer-foot">
          <ModeSwitch mode={view.mode} onMode={commands.setMode} />
          <span className="composer-hint">
            {busy ? 'Enter to steer, Ctrl+Enter to queue' : 'Enter to send, Shift+Enter for a new line'}
          </span>
          {busy && (
            <button type="button" className="stop" title="Stop (Esc)" onClick={commands.stop}>
              Stop
            </button>
          )}
          {busy && (
            <button
              type="button"
              disabled={isOff}
              title="Send after this turn (Ctrl+Enter or Alt+Enter)"
              onClick={() => send('queueFollowUp')}
            >
              Follow up
            </button>
          )}
          <button
            type="button"
            className="primary"
            disabled={isOff}
            title={busy ? 'Send during this turn, at the next safe point (Enter)' : 'Send (Enter)'}
            onClick={() => send('sendPrompt')}
          >
            {busy ? 'Steer' : 'Send'}
          </button>
        </div>
      </div>
    </div>
  )
}

function placeholderOf(isWatching: boolean, busy: boolean): string {
  if (isWatching) return 'You are watching this session'
  return busy ? 'Steer the agent while it works' : 'Write a message'
}

type ModeSwitchProps = {
  readonly mode: Mode
  readonly onMode: (mode: Mode, keepPlan: boolean) => void
}

const modes = [
  { mode: 'exec', word: 'Exec', title: 'The agent may make changes; it asks first' },
  { mode: 'plan', word: 'Plan', title: 'The agent only reads and plans' },
] as const

/** Switches between plan and exec. The plan can be pinned to the context. */
function ModeSwitch({ mode, onMode }: ModeSwitchProps) {
  const [keepsPlan, setKeepsPlan] = useState(false)
  return (
    <>
      <fieldset className="mode-switch" aria-label="Mode">
        {modes.map((one) => (
          <button
            key={one.mode}
            type="button"
            title={one.title}
            aria-pressed={one.mode === mode}
            onClick={() => one.mode !== mode && onMode(one.mode, keepsPlan)}
          >
            {one.word}
          </button>
        ))}
      </fieldset>
      {mode === 'plan' && (
        <label
          className="keep-plan"
          title="When you switch to Exec, pin the last answer, so that the plan stays in the context"
        >
          <input type="checkbox" checked={keepsPlan} onChange={(event) => setKeepsPlan(event.target.checked)} />
          Keep the plan
        </label>
      )}
    </>
  )
}
