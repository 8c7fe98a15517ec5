import type { Fault, Meta, Sessions } from '@holdfast/protocol'
import { type FormEvent, useState } from 'react'
import { Choices, FaultNote, ListButton } from './ui/elements.tsx'
import { MessageBox } from './ui/message-box.tsx'
import { goTo } from './ui/route.ts'

type NewSessionProps = {
  readonly sessions: Sessions
  /** Newest first; the first one gives the default folder. */
  readonly recent: readonly Meta[]
  readonly onOpenList: () => void
}

const serverFolder = '.'

export function NewSession({ sessions, recent, onOpenList }: NewSessionProps) {
  const [text, setText] = useState('')
  const [workdir, setWorkdir] = useState<string | null>(null) // null until a person enters the field
  const [model, setModel] = useState('')
  const [isStarting, setStarting] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const folder = workdir ?? recent[0]?.workspace ?? serverFolder

  const start = async () => {
    if (isStarting) return
    setStarting(true)
    const started = await startWith(sessions, { workdir: folder, model: model.trim(), text })
    if (started.ok) goTo({ at: 'session', name: started.value })
    else {
      setFault(started.fault)
      setStarting(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    start()
  }

  return (
    <main className="new-session">
      <ListButton onOpen={onOpenList} />
      <form onSubmit={onSubmit} aria-label="New session">
        <h1>New session</h1>
        <MessageBox value={text} onChange={setText} onSend={start} placeholder="What should the agent do?" rows={3} />
        <div className="fields">
          <label>
            Working directory
            <input
              name="workdir"
              value={folder}
              onChange={(event) => setWorkdir(event.target.value)}
              onFocus={() => setWorkdir(folder)} // the list of sessions may arrive while a person types
              spellCheck={false}
              autoCapitalize="off"
              list="workdirs"
              required
            />
            <small>
              {folder === serverFolder
                ? 'The folder where the server was started.'
                : 'File tools stay inside this folder.'}
            </small>
          </label>
          <label>
            Model
            <input
              name="model"
              value={model}
              onChange={(event) => setModel(event.target.value)}
              placeholder={recent[0]?.model ?? "the server's choice"}
              spellCheck={false}
              autoCapitalize="off"
              list="models"
            />
            <small>Leave empty for the default.</small>
          </label>
        </div>
        <Choices id="workdirs" values={recent.map(({ workspace }) => workspace)} />
        <Choices id="models" values={recent.map(({ model }) => model)} />
        <FaultNote fault={fault} />
        <button type="submit" className="primary" disabled={isStarting || folder.trim() === ''}>
          {isStarting ? 'Starting…' : 'Start session'}
        </button>
      </form>
    </main>
  )
}

type Wish = { readonly workdir: string; readonly model: string; readonly text: string }

/** Starts the session and sends the first prompt. If the prompt is refused, the empty session is removed. */
async function startWith(sessions: Sessions, { workdir, model, text }: Wish) {
  const folder = workdir.trim()
  const started = await sessions.start({
    ...(folder !== serverFolder && { workdir: folder }),
    ...(model !== '' && { model }),
  })
  if (!started.ok) return started
  const { id } = started.value
  if (text.trim() === '') return { ok: true, value: id } as const
  const prompted = await started.value.submit({ type: 'sendPrompt', content: text })
  return prompted.ok ? ({ ok: true, value: id } as const) : prompted
}
