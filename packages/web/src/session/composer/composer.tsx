import type { LiveView } from '@holdfast/client'
import { type Meta, type Mode, ok, type SessionView } from '@holdfast/protocol'
import { type KeyboardEvent, useContext, useMemo, useRef, useState } from 'react'
import { CompletionMenu, shownCompletion } from '../../completion/completion-menu.tsx'
import { type CompletionSource, useCompletion } from '../../completion/use-completion.ts'
import { DropArea, FileButton } from '../../draft-files/file-input.tsx'
import { FileTray } from '../../draft-files/file-tray.tsx'
import type { DraftFiles } from '../../draft-files/use-draft-files.ts'
import { keyText } from '../../keys/key-hint.tsx'
import { ModelPicker } from '../../models/model-picker.tsx'
import { attempt, ServerContext } from '../../models/server-context.ts'
import { ThinkingMenu } from '../../models/thinking-menu.tsx'
import { useSmall } from '../../screens/use-narrow.ts'
import { PermissionMenu } from '../../start/permission-menu.tsx'
import type { DraftText } from '../../text/draft-text.ts'
import { isBusy, oneLine } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { MessageBox } from '../../ui/message-box.tsx'
import { ModeSwitch } from '../../ui/mode-switch.tsx'
import { Popover } from '../../ui/popover.tsx'
import { useSession, whyHistoryLocked } from '../state/session-context.ts'
import type { Commands, PromptKind } from '../state/use-commands.ts'
import { ContextGauge } from './context-gauge.tsx'
import { PlanBar } from './plan-bar.tsx'
import { promptsOf, useHistory } from './use-history.ts'
import { useSend } from './use-send.ts'

type ComposerProps = {
  readonly draft: DraftText
  readonly draftFiles: DraftFiles
  readonly meta: Meta
  readonly view: SessionView
  readonly live: LiveView
  readonly commands: Commands
  readonly isWatching: boolean
  /** The connection is lost: text can be written, and nothing can be sent. */
  readonly isLost: boolean
  readonly hasFolder: boolean
  readonly isStoreRefusing: boolean
  readonly onRecall: () => void
}

/** The input box, with files, completions and the settings of the next prompt. */
export function Composer(props: ComposerProps) {
  const { draft, draftFiles, view, live, commands, isWatching, isLost, hasFolder, isStoreRefusing, onRecall } = props
  const box = useRef<HTMLTextAreaElement>(null)
  const busy = isBusy(view.status)
  const isSmall = useSmall()
  const completion = useCompletion(draft, box, useSessionCompletions())
  const onHistory = useHistory(draft, () => promptsOf(live.messages))
  const { send, sending, fault, isOff, isUploading } = useSend({ draft, draftFiles, commands, isLost })
  /** Sends from a button. The focus goes back to the box: else the next letter could answer a question that appears. */
  const sendByButton = (as: PromptKind) => {
    void send(as)
    if (matchMedia('(hover: hover)').matches) box.current?.focus()
  }
  const onKey = (event: KeyboardEvent) => completion.onKey(event) || onHistory(event)

  // Once the store accepts writes again, or the session has a folder, the error is out of date.
  const isOver =
    (fault?.code === 'storage_error' && !isStoreRefusing) || (fault?.code === 'workdir_needed' && hasFolder)

  return (
    <div className="composer">
      {!isOver && <FaultNote fault={fault} />}
      <PlanBar view={view} messages={live.messages} isOff={isLost || isWatching} commands={commands} />
      <CompletionMenu {...completion} />
      {sending !== null && (
        <p className="sending" role="status">
          Sending {sending.trim() === '' ? 'files' : `“${oneLine(sending)}”`}
        </p>
      )}
      <DropArea
        draftFiles={draftFiles}
        isOff={isWatching}
        className={isSmall && !busy ? 'composer-box one-line' : 'composer-box'}
        onTakeOut={(text) => draft.write(draft.current().replace(text, ''))}
      >
        <FileTray draftFiles={draftFiles} />
        <MessageBox
          box={box}
          value={draft.text}
          onChange={draft.write}
          onCaret={completion.setCaret}
          onSend={() => send('sendPrompt')}
          onFollowUp={() => send('queueFollowUp')}
          onRecall={onRecall}
          placeholder={placeholderOf({ isLost, isWatching, busy, isSmall })}
          onKey={onKey}
          completion={shownCompletion(completion)}
        />
        <div className="composer-foot">
          <FileButton draftFiles={draftFiles} isOff={isWatching} />
          {isSmall ? (
            <Popover title="Settings of the next answer" side="top" align="start" trigger={<SettingsButton />}>
              <Settings {...props} />
            </Popover>
          ) : (
            <Settings {...props} />
          )}
          {busy && !isWatching && (
            <button
              type="button"
              className="stop"
              title={`Stop${keyText('stop')}`}
              disabled={isLost}
              onClick={commands.stop}
            >
              Stop
            </button>
          )}
          {busy && (
            <button
              type="button"
              disabled={isOff}
              title={`Send after this turn${keyText('followUp')}`}
              onClick={() => sendByButton('queueFollowUp')}
            >
              Follow up
            </button>
          )}
          <button
            type="button"
            className="primary"
            disabled={isOff}
            title={`${busy ? 'Send during this turn, at the next safe point' : 'Send'}${keyText('send')}`}
            onClick={() => sendByButton('sendPrompt')}
          >
            {isUploading ? 'Sending files…' : busy ? 'Steer' : 'Send'}
          </button>
        </div>
      </DropArea>
    </div>
  )
}

/** Completes what the session on screen knows. */
function useSessionCompletions(): CompletionSource {
  const { handle } = useSession()
  const server = useContext(ServerContext)
  return useMemo(
    () => ({
      commands: () => handle.commands(),
      paths: async (typed) =>
        server ? attempt(() => server.holdfast.completePath(handle.id, typed)) : ok({ paths: [], isCut: false }),
    }),
    [handle, server],
  )
}

const SettingsButton = (props: object) => (
  <button type="button" className="quiet icon-button" aria-label="Model, mode and context" {...props}>
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2.500 5h6M11.500 5h2M2.500 11h2M7.500 11h6M10 3.500v3M6 9.500v3" />
    </svg>
  </button>
)

type Situation = {
  readonly isLost: boolean
  readonly isWatching: boolean
  readonly busy: boolean
  readonly isSmall: boolean
}

function placeholderOf({ isLost, isWatching, busy, isSmall }: Situation): string {
  if (isSmall) return isWatching ? 'You are watching' : busy ? 'Steer the agent' : 'Message'
  if (isLost) return 'You can write. It is sent when the connection is back and you press Send.'
  if (isWatching) return 'You are watching this session'
  return busy ? 'Steer the agent with Enter, or queue with Ctrl+Enter' : 'Write a message. @ names a file, / a command.'
}

/** Model, thinking level, mode and context. They apply from the next answer on. */
function Settings({ meta, view, live, commands, isLost }: ComposerProps) {
  return (
    <div className="chips">
      <ModelPicker model={view.model} onChoose={commands.setModel} isOff={isLost} side="top" />
      <ThinkingMenu
        model={view.model}
        level={view.thinkingLevel}
        onChoose={commands.setThinkingLevel}
        isOff={isLost}
        side="top"
      />
      <PlanMode mode={view.mode} isOff={isLost} onMode={commands.setMode} />
      <PermissionMenu
        permission={view.readOnly ? 'readOnly' : view.approvals}
        onChoose={(next) => next !== 'readOnly' && commands.setApprovals(next)}
        hasBegun
        isOff={isLost}
        side="top"
      />
      <ContextGauge meta={meta} view={view} here={live.here} hold={whyHistoryLocked(live)} />
    </div>
  )
}

type PlanModeProps = {
  readonly mode: Mode
  readonly isOff: boolean
  readonly onMode: (mode: Mode, keepPlan: boolean) => void
}

/** Switches between plan and exec. The plan can be pinned to the context. */
function PlanMode({ mode, isOff, onMode }: PlanModeProps) {
  const [keepsPlan, setKeepsPlan] = useState(false)
  return (
    <>
      <ModeSwitch mode={mode} isOff={isOff} onMode={(next) => onMode(next, keepsPlan)} />
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
