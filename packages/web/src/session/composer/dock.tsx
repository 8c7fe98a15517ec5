import { combineQueueEntriesToText, type LiveView } from '@holdfast/client'
import { type ContentPart, type Meta, noWorkdir, type SessionView } from '@holdfast/protocol'
import { useId } from 'react'
import type { DraftFiles } from '../../draft-files/use-draft-files.ts'
import { runKey } from '../../keys/use-key.ts'
import type { DraftText } from '../../text/draft-text.ts'
import { isBusy } from '../../text/format.ts'
import { FaultNote, StorageBar } from '../../ui/elements.tsx'
import type { Control } from '../state/session-context.ts'
import type { Commands } from '../state/use-commands.ts'
import type { Asked } from '../subagents/asked.ts'
import { AskedCard } from '../subagents/asked-card.tsx'
import { TrustBanner } from '../trust/trust-banner.tsx'
import { Composer } from './composer.tsx'
import { FolderForm } from './folder-form.tsx'
import { QueueView, whyNotRecalled } from './queue-view.tsx'

type DockProps = {
  readonly draft: DraftText
  readonly view: SessionView
  /** The approvals to answer here, those of subagents included. */
  readonly asked: readonly Asked[]
  readonly meta: Meta
  readonly live: LiveView
  readonly draftFiles: DraftFiles
  /** The sessions in the list, whose folders are suggested. */
  readonly listed: readonly Meta[]
  readonly control: Control
  readonly commands: Commands
  readonly storageError: LiveView['storageError']
}

/** Approval, queue and composer. Disabled for viewers. */
export function Dock(props: DockProps) {
  const { draft, draftFiles, meta, view, live, asked, listed, control, commands, storageError } = props
  const { workspace } = meta
  const why = useId()
  const isOff = control.watching !== null
  const isWatching = isOff && !control.isLost
  const hasFolder = workspace !== noWorkdir

  const recall = async () => {
    if (view.queue.length === 0 || whyNotRecalled(view.queue) !== undefined) return
    const entries = await commands.recall()
    if (entries.length === 0) return
    const texts = entries.map(({ content, ...entry }) => ({ ...entry, content: content.filter(isText) }))
    draft.write(combineQueueEntriesToText([...texts, draft.current()]))
    draftFiles.keep(entries.flatMap(({ content }) => content.filter((part) => part.type === 'file')))
  }
  /** Sends what a stopped turn left in the queue, as one prompt. */
  const sendNow = async () => {
    const entries = await commands.recall()
    const content = entries.flatMap(({ content }) => content)
    if (content.length > 0) await commands.send(content, 'sendPrompt')
  }
  return (
    <div className="dock column">
      {storageError && <StorageBar error={storageError} />}
      <FaultNote fault={commands.fault} />
      {isWatching && <WatchBar control={control} commands={commands} id={why} isBusy={isBusy(view.status)} />}
      <fieldset
        className="dock-controls"
        aria-label="Controls"
        disabled={isOff}
        aria-describedby={isWatching ? why : undefined}
        title={control.watching ?? undefined}
      >
        <TrustBanner workspace={workspace} />
        <AskedCard asked={asked} commands={commands} />
        <QueueView
          queue={view.queue}
          commands={commands}
          onRecall={() => void recall().then(focusInput)}
          onSendNow={isBusy(view.status) ? null : () => void sendNow()}
        />
        {!hasFolder && <FolderForm known={listed.flatMap(folderOf)} onGive={commands.moveWorkdir} />}
      </fieldset>
      {/* Without a connection a person may still write: only sending is off. */}
      <fieldset
        className="dock-controls"
        aria-label="Write"
        disabled={isWatching}
        title={control.watching ?? undefined}
      >
        <Composer
          draft={draft}
          draftFiles={draftFiles}
          meta={meta}
          view={view}
          live={live}
          commands={commands}
          isWatching={isWatching}
          hasFolder={hasFolder}
          isLost={control.isLost}
          isStoreRefusing={storageError !== null}
          onRecall={recall}
        />
      </fieldset>
    </div>
  )
}

const focusInput = () => runKey('focusInput')

const isText = (part: ContentPart): boolean => part.type === 'text'

const folderOf = ({ workspace }: Meta): readonly string[] => (workspace === noWorkdir ? [] : [workspace])

type WatchBarProps = {
  readonly id: string
  readonly control: Control
  readonly isBusy: boolean
  readonly commands: Pick<Commands, 'claim' | 'stop'>
}

/** Says who has control, and offers it: a person may take it from another screen, and may always stop the agent. */
function WatchBar({ id, control, isBusy, commands }: WatchBarProps) {
  return (
    <div className="watch-bar">
      <p id={id}>{control.watching}</p>
      {isBusy && (
        <button type="button" className="stop" title="Stop the agent, without taking control" onClick={commands.stop}>
          Stop
        </button>
      )}
      <button type="button" onClick={commands.claim}>
        Take control
      </button>
    </div>
  )
}
