import type { Fault, Sessions } from '@holdfast/protocol'
import { type FormEvent, useRef, useState } from 'react'
import { CompletionMenu, shownCompletion } from '../completion/completion-menu.tsx'
import { useCompletion } from '../completion/use-completion.ts'
import { DropArea, FileButton } from '../draft-files/file-input.tsx'
import { FileTray } from '../draft-files/file-tray.tsx'
import { useDraftFiles } from '../draft-files/use-draft-files.ts'
import { NeedsServer } from '../screens/needs-server.tsx'
import { useIsLost } from '../screens/use-screens.ts'
import { useTabTitle } from '../screens/use-tab-title.ts'
import { useDraftText } from '../text/draft-text.ts'
import { FaultNote, ListButton } from '../ui/elements.tsx'
import { MessageBox } from '../ui/message-box.tsx'
import { goTo } from '../ui/route.ts'
import { FirstRun } from './first-run.tsx'
import { FolderField } from './folder-field.tsx'
import { useRecentFolders, useServerFolder } from './recent-folders.ts'
import { firstWish, StartOptions, type StartWish } from './start-options.tsx'
import { startSession } from './start-session.ts'
import { useFolderCompletions } from './use-folder-completions.ts'

type StartPageProps = { readonly sessions: Sessions; readonly onOpenList: () => void }

/** Each works with the demo model, and with any other. */
const suggestions = [
  'What is in this folder?',
  'Plan how to add a test to this project',
  'Write hello.txt: hello from the agent',
]

const noFolders: readonly string[] = []

/** The form that starts a session. */
export function StartPage({ sessions, onOpenList }: StartPageProps) {
  useTabTitle(null, false)
  const isLost = useIsLost()
  const draft = useDraftText('new')
  const draftFiles = useDraftFiles('new')
  const recent = useRecentFolders(sessions)
  const [chosen, setChosen] = useState<string | null>(null) // null until a person enters the field
  const [wish, setWish] = useState<StartWish>(firstWish)
  const [isStarting, setStarting] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const serverFolder = useServerFolder(recent?.length === 0)
  const workdir = chosen ?? recent?.[0] ?? serverFolder ?? ''
  const box = useRef<HTMLTextAreaElement>(null)
  const completion = useCompletion(draft, box, useFolderCompletions(workdir))
  const isSending = draftFiles.files.some(({ state }) => state.at === 'sending')
  const isOff = isStarting || isLost || isSending

  const start = async () => {
    if (isOff) return
    setStarting(true)
    const files = draftFiles.stored()
    const request = { ...wish, workdir, text: draft.current(), files: files.map(({ part }) => part) }
    const started = await startSession(sessions, request)
    if (started.ok) {
      draft.write('')
      draftFiles.remove(files.map(({ id }) => id))
      goTo({ at: 'session', name: started.value })
    } else {
      setFault(started.fault)
      setStarting(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void start()
  }
  const focusMessage = () => box.current?.focus()
  const suggest = (text: string) => {
    draft.write(text)
    focusMessage()
  }
  const isFolderFault = fault?.code === 'bad_workdir'
  const chooseFolder = (folder: string) => {
    setChosen(folder)
    if (isFolderFault) setFault(null)
  }

  return (
    <main className="new-session">
      <ListButton onOpen={onOpenList} />
      <form onSubmit={onSubmit} aria-label="New session">
        <h1>New session</h1>
        {recent?.length === 0 && (
          <NeedsServer>
            <FirstRun folder={workdir} />
          </NeedsServer>
        )}
        <div className="field">
          <span>Folder</span>
          <FolderField
            folder={workdir}
            onChange={chooseFolder}
            onFocus={() => setChosen(workdir)} // the recent folders may arrive while a person types
            recent={recent ?? noFolders}
            placeholder="The folder where the server was started"
            onEnter={focusMessage}
          />
          {isFolderFault && <FaultNote fault={fault} />}
        </div>
        <div className="completed-box">
          <DropArea
            draftFiles={draftFiles}
            isOff={isStarting}
            className="composer-box"
            onTakeOut={(text) => draft.write(draft.current().replace(text, ''))}
          >
            <FileTray draftFiles={draftFiles} />
            <MessageBox
              box={box}
              value={draft.text}
              onChange={draft.write}
              onCaret={completion.setCaret}
              onKey={completion.onKey}
              completion={shownCompletion(completion)}
              onSend={start}
              placeholder="What should the agent do? @ names a file, / a command."
              rows={3}
            />
            <div className="composer-foot">
              <NeedsServer>
                <FileButton draftFiles={draftFiles} isOff={isStarting} />
                <StartOptions wish={wish} onChange={setWish} isOff={isLost} />
              </NeedsServer>
              <button type="submit" className="primary" disabled={isOff}>
                {isStarting ? 'Starting…' : isSending ? 'Sending files…' : 'Start session'}
              </button>
            </div>
          </DropArea>
          <CompletionMenu {...completion} />
        </div>
        {!isFolderFault && <FaultNote fault={fault} />}
        <ul className="suggestions" aria-label="Suggestions">
          {suggestions.map((text) => (
            <li key={text}>
              <button type="button" disabled={isLost} onClick={() => suggest(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      </form>
    </main>
  )
}
