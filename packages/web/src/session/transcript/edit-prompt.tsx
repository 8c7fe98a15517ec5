import type { Fault, Message } from '@holdfast/protocol'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { keyText } from '../../keys/key-hint.tsx'
import { isKey } from '../../keys/match-key.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { isSendKey, returnToMessageBox } from '../../ui/message-box.tsx'
import { useLive, useSession, whyHistoryLocked } from '../state/session-context.ts'

type Prompt = Extract<Message, { readonly kind: 'user' }>
type EditPromptProps = { readonly prompt: Prompt; readonly onClose: () => void }

/** Edits a prompt in its place, and sends it again. What it and its answer were is saved as a branch. */
export function EditPrompt({ prompt, onClose }: EditPromptProps) {
  const { asks, takeBack } = useSession()
  const hold = useLive(whyHistoryLocked)
  const [text, setText] = useState(prompt.text)
  const [fault, setFault] = useState<Fault | null>(null)
  const send = async () => {
    if (text.trim() === '' || hold !== null) return
    const refused = await asks.resend(prompt, text, takeBack)
    if (refused) return setFault(refused)
    onClose()
    returnToMessageBox()
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void send()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') {
      event.preventDefault() // it stops no turn here
      onClose()
    } else if (isKey(event.nativeEvent, 'followUp') || isSendKey(event.nativeEvent)) {
      event.preventDefault()
      void send()
    }
  }
  return (
    <form className="edit-prompt" aria-label="Edit the prompt" onSubmit={onSubmit}>
      <textarea
        aria-label="Prompt"
        dir="auto"
        // biome-ignore lint/a11y/noAutofocus: a person has just asked for it
        autoFocus
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <FaultNote fault={fault} />
      <p className="edit-actions">
        <span className="nothing">{hold ?? 'The old prompt and its answer are saved as a branch.'}</span>
        <button type="button" className="quiet" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          className="primary"
          title={`Send again${keyText('send')}. New line${keyText('newLine')}`}
          disabled={hold !== null || text.trim() === ''}
        >
          Send again
        </button>
      </p>
    </form>
  )
}

/** Sends the prompt of the last turn again. The answer so far is saved as a branch. */
export function TryAgain({ prompt }: { readonly prompt: Prompt }) {
  const { asks, takeBack } = useSession()
  const hold = useLive(whyHistoryLocked)
  return (
    <button
      type="button"
      className="quiet small"
      disabled={hold !== null}
      title={hold ?? 'Send the prompt again. This answer is saved as a branch.'}
      onClick={() => {
        void asks.resend(prompt, prompt.text, takeBack)
        returnToMessageBox() // this button goes away
      }}
    >
      Try again
    </button>
  )
}
