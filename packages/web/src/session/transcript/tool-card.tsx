import {
  approvalText,
  type CallStatus,
  type CallView,
  escapeHidden,
  escapeLine,
  limits,
  type Message,
} from '@holdfast/protocol'
import { type ReactNode, useContext } from 'react'
import { FileDiff } from '../../diff/file-diff.tsx'
import { durationText } from '../../text/format.ts'
import { callSummary } from '../../text/message-text.ts'
import { Collapsible } from '../../ui/collapsible.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { ArgumentsView } from '../approval/preview-view.tsx'
import { WaitingCall } from '../approval/waiting-call.tsx'
import { ChangedFiles, useChanges } from '../files/changed-files.tsx'
import { PutBack } from '../files/put-back.tsx'
import { ShownOnlyContext, useSession, WatchingContext } from '../state/session-context.ts'
import { FileParts } from '../tool-result/file-parts.tsx'
import { toolResultView } from '../tool-result/tool-result.tsx'
import { PinButton, PinMark } from './pins.tsx'
import { messageElementId } from './show-message.ts'
import { TerminalView } from './terminal-view.tsx'

export type ToolCardProps = {
  readonly message: Extract<Message, { readonly kind: 'tool_call' }>
  /** Output so far, while it runs. */
  readonly liveOutput: string | undefined
  /** How it looks if its status is not that of the call, but of the subagent that it started. */
  readonly look?: { readonly name: string; readonly word: string; readonly dot: string }
  /** Below its head. */
  readonly strip?: ReactNode
}

const words: Record<CallStatus, string> = {
  waiting: 'waiting',
  running: 'running',
  complete: 'done',
  error: 'failed',
  denied: 'refused',
  interrupted: 'interrupted',
}

export function ToolCard({ message, liveOutput, look, strip }: ToolCardProps) {
  const { handle, asks } = useSession()
  const isWatching = useContext(WatchingContext) !== null // then it collapses on this page only
  const { call, collapsed, pinned } = message
  const elementId = messageElementId(handle.id, message.id)
  const asked = call.approval?.preview.type
  const isAskedBelow = !useContext(ShownOnlyContext) && !look && asked !== undefined && asked !== 'question'
  if (isAskedBelow) return <WaitingCall call={call} elementId={elementId} />
  const waits = call.approval?.preview.type === 'question' ? 'asks you' : 'needs approval'
  const status = look?.word ?? (call.approval ? waits : words[call.status])
  const dot = look?.dot ?? (call.approval ? 'asked' : call.status)
  const tool = look?.name ?? escapeLine(call.tool)
  const summary = callSummary(call)
  const hasDuration = !look && call.status === 'complete' && call.durationMs !== null
  const isLive = call.status === 'running' && liveOutput !== undefined
  return (
    <Collapsible
      className={`tool ${dot}`}
      elementId={elementId}
      strip={strip}
      isOpenAtFirst={!collapsed}
      {...(!isWatching && { onFold: () => asks.toggleFold(message.id) })}
      head={
        <>
          <span className={`dot ${dot}`} aria-hidden="true" />
          <span className="tool-name">{tool}</span>
          <code className="tool-summary">{summary}</code>
          {hasDuration && <span className="hidden-text">{status}</span>}
          <span className="tool-status">{hasDuration ? durationText(call.durationMs ?? 0) : status}</span>
          {pinned && <PinMark />}
        </>
      }
    >
      {() => (
        <>
          <CallContent call={call} liveOutput={isLive ? liveOutput : undefined} />
          <p className="tool-foot">
            <span>{footOf(call)}</span>
            <PinButton message={message} />
          </p>
        </>
      )}
    </Collapsible>
  )
}

/** Lines of a diff that a card shows at first. */
const diffLinesMax = 40

/** Shows what a call changed. */
function CallChanges({ call }: { readonly call: CallView['id'] }) {
  const { handle } = useSession()
  const { files, fault } = useChanges(handle, { call })
  if (fault) return <FaultNote fault={fault} />
  return files === null ? <p className="nothing working">Loading</p> : <ChangedFiles handle={handle} files={files} />
}

type CallContentProps = { readonly call: CallView; readonly liveOutput: string | undefined }

/** Shows what a call did: the diff that a person answered, else its output and the files that it changed. */
function CallContent({ call, liveOutput }: CallContentProps) {
  const { id, args, preview, status, result, files } = call
  const { handle } = useSession()
  const output = result && <TerminalView label="Result" text={result.text} blob={result.blob} />
  if (preview?.type === 'diff')
    return (
      <>
        <FileDiff handle={handle} preview={preview} linesMax={diffLinesMax} />
        {status !== 'complete' && output}
        <Folded title={status === 'complete' ? 'Arguments and result' : 'Arguments'}>
          <ArgumentsView args={args} />
          {status === 'complete' && output}
        </Folded>
      </>
    )
  if (files)
    return (
      <>
        {isShell(call) && <CommandLine command={call.args.command} />}
        {output}
        <PutBack call={id} files={files} />
        <CallChanges call={id} />
        {!isShell(call) && (
          <Folded title="Arguments">
            <ArgumentsView args={args} />
          </Folded>
        )}
      </>
    )
  const own = toolResultView(call)
  if (own !== null)
    return (
      <>
        {own}
        {result?.fileParts && <FileParts files={result.fileParts} />}
        <Folded title="Arguments">
          <ArgumentsView args={args} />
        </Folded>
      </>
    )
  const isCut = (liveOutput?.length ?? 0) >= limits.toolOutputInlineBytesMax
  return (
    <>
      {isShell(call) ? <CommandLine command={call.args.command} /> : <ArgumentsView args={args} />}
      {liveOutput !== undefined && <TerminalView label="Output so far" text={liveOutput} isLive isCut={isCut} />}
      {output}
      {result?.fileParts && <FileParts files={result.fileParts} />}
    </>
  )
}

type ShellCall = CallView & { readonly args: { readonly command: string; readonly [name: string]: unknown } }

const isShell = (call: CallView): call is ShellCall => call.tool === 'shell' && typeof call.args['command'] === 'string'

/** Returns the arguments of a shell call beside its command, for its foot. */
function shellOptions({ command: _, timeout, background, network, ...others }: ShellCall['args']): readonly string[] {
  return [
    ...(background === true ? ['in the background'] : []),
    ...(typeof timeout === 'number' ? [`timeout ${timeout} s`] : []),
    ...(network === true ? ['asked for the network'] : []),
    ...Object.entries(others).map(([name, value]) => escapeLine(`${name}: ${JSON.stringify(value)}`)),
  ]
}

/** Shows a command as in a terminal, above its output. */
const CommandLine = ({ command }: { readonly command: string }) => (
  <pre className="command-line">
    <code>{escapeHidden(command)}</code>
  </pre>
)

const Folded = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <details className="raw-arguments">
    <summary>{title}</summary>
    {children}
  </details>
)

function footOf(call: CallView): string {
  const { tool, status, durationMs, approvedBy, result, rewrittenBy } = call
  const parts = [words[status]]
  if (durationMs !== null) parts.push(durationText(durationMs))
  if (isShell(call)) parts.push(...shellOptions(call.args))
  if (approvedBy) {
    // The ids of clients are made by programs: on the page a person is a person.
    const by = 'rule' in approvedBy ? approvedBy : { ...approvedBy, client: null }
    const isSubagent = tool === 'subagent' && 'rule' in by && by.rule === 'not destructive'
    parts.push(isSubagent ? 'ran without asking: the subagent asks by itself' : escapeLine(approvalText(by)))
  }
  if (rewrittenBy !== undefined) parts.push(`arguments changed by the hook ${escapeLine(rewrittenBy)}`)
  if (result?.blob) parts.push(`shortened from ${result.blob.bytes.toLocaleString('en')} bytes`)
  return parts.join(' · ')
}
