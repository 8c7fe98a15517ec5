import { type Fault, isLeftByMove, type Message, type RestorePreview, TurnNumber } from '@holdfast/protocol'
import { useState } from 'react'
import { counted } from '../../text/format.ts'
import { messageText } from '../../text/message-text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FaultNote, inOrder } from '../../ui/elements.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useLive, useSession, whyHistoryLocked } from '../state/session-context.ts'
import { filesOf } from '../state/use-commands.ts'
import { RestorePreviewView } from './restored-files.tsx'

type Prompt = Extract<Message, { readonly kind: 'user' }>
type RewindDialogProps = { readonly prompt: Prompt; readonly onClose: () => void }

/** Shows what a rewind to before a prompt takes away and could put back, and does it after a click. */
export function RewindDialog({ prompt, onClose }: RewindDialogProps) {
  const { handle, asks, live, takeBack } = useSession()
  const hold = useLive(whyHistoryLocked)
  const { value: preview, fault } = useLoaded(() => handle.previewRestore({ message: prompt.id }), [handle, prompt.id])
  const [isWithFiles, setWithFiles] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [refused, setRefused] = useState<Fault | null>(null)

  const rewind = async () => {
    setRunning(true)
    const why = await rewindTo()
    setRefused(why)
    setRunning(false)
    if (why) return
    if (!prompt.child) takeBack?.(prompt.text, filesOf(prompt)) // nobody wrote the result of a subagent
    onClose()
  }
  const rewindTo = async (): Promise<Fault | null> => {
    if (isWithFiles) {
      const restored = await asks.restoreFiles({ message: prompt.id })
      if (!restored.ok) return restored.fault
    }
    const isFirst = prompt.parent === null || prompt.turn === 0
    return asks.rewind(isFirst ? null : TurnNumber.parse(prompt.turn - 1))
  }
  return (
    <Dialog
      title="Rewind to before this prompt"
      onClose={onClose}
      footer={
        <>
          <p>The messages are saved as a branch. You can switch back to it at any time.</p>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="primary"
            disabled={hold !== null || isRunning}
            title={hold ?? undefined}
            onClick={rewind}
          >
            {isRunning ? 'Rewinding…' : isWithFiles ? 'Rewind and put files back' : 'Rewind'}
          </button>
        </>
      }
    >
      <div className="dialog-body">
        <FaultNote fault={refused ?? fault} />
        <LeavingMessages messages={live.messages.filter(({ turn }) => turn >= prompt.turn)} />
        {preview === null && fault === null && <p className="nothing working">Loading</p>}
        {preview && <RewoundFiles preview={preview} isChosen={isWithFiles} onChoose={setWithFiles} />}
      </div>
    </Dialog>
  )
}

const promptsShownMax = 6

/** Says which messages the rewind takes out of the transcript. */
function LeavingMessages({ messages }: { readonly messages: readonly Message[] }) {
  const prompts = messages.filter(({ kind }) => kind === 'user')
  const shown = messages.filter(({ kind }) => kind !== 'usage').length
  return (
    <section className="rewind-messages" aria-label="Messages that move to a branch">
      <p>
        {counted(prompts.length, 'prompt')} with {counted(shown, 'message')} move to a branch:
      </p>
      <ul>
        {inOrder(prompts.slice(0, promptsShownMax), (prompt) => (
          <li dir="auto">{messageText(prompt)}</li>
        ))}
      </ul>
      {prompts.length > promptsShownMax && <p>and {prompts.length - promptsShownMax} more.</p>}
    </section>
  )
}

type RewoundFilesProps = {
  readonly preview: RestorePreview
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}

/** Offers to put the files back too, and shows what that would change and what cannot be put back. */
export function RewoundFiles({ preview, isChosen, onChoose }: RewoundFilesProps) {
  const files = preview.files.filter((file) => file.action !== 'none' && !isLeftByMove(file)).length
  if (files === 0 && preview.refused.length === 0) return <p className="nothing">No file has changed since.</p>
  return (
    <section className="rewind-files" aria-label="Files">
      {files > 0 && (
        <label>
          <input type="checkbox" checked={isChosen} onChange={(event) => onChoose(event.target.checked)} />
          Put {counted(files, 'file')} back too
        </label>
      )}
      <RestorePreviewView preview={preview} />
    </section>
  )
}
