import type { Fault, SessionId, SessionView } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol'
import { useRef, useState } from 'react'
import { useDraftText } from './draft-text.ts'
import { MessageBox } from './message-box.tsx'
import { ModeSwitch } from './mode-switch.tsx'
import { isBusy } from './status-text.ts'

export type ComposerProps = {
  readonly session: SessionId
  readonly view: SessionView
  readonly onSend: (text: string) => Promise<Fault | null>
  readonly onStop: () => void
  readonly onMode: (mode: SessionView['mode']) => void
}

/** Where people speak. What is refused stays in the box, with the reason. */
export function Composer({ session, view, onSend, onStop, onMode }: ComposerProps) {
  const [text, setText] = useDraftText(session)
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const written = useRef(text)
  const busy = isBusy(view.status)

  const write = (next: string) => {
    written.current = next
    setText(next)
  }
  const send = async () => {
    const sent = written.current
    if (sent.trim() === '' || isSending) return
    setSending(true)
    const refused = await onSend(sent)
    setSending(false)
    setFault(refused)
    // What was added while it was on its way stays; only what was taken leaves.
    if (!refused) write(written.current.startsWith(sent) ? written.current.slice(sent.length) : written.current)
  }

  return (
    <div className="composer">
      {fault && (
        <p className="fault" role="alert">
          {escapeLine(fault.message)}
        </p>
      )}
      <div className="composer-box">
        <MessageBox
          value={text}
          onChange={write}
          onSend={send}
          placeholder={busy ? 'Steer the agent while it works' : 'Write a message'}
        />
        <div className="composer-foot">
          <ModeSwitch mode={view.mode} onMode={onMode} />
          <span className="composer-hint">
            {busy ? 'Your message will steer the running turn' : 'Enter sends, Shift+Enter breaks the line'}
          </span>
          {busy && (
            <button type="button" className="stop" title="Stop (Esc)" onClick={onStop}>
              Stop
            </button>
          )}
          <button type="button" className="primary" disabled={text.trim() === '' || isSending} onClick={send}>
            Send
          </button>
        </div>
      </div>
    </div>
  )
}
