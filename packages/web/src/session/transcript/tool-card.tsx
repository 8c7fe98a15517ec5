import { type CallStatus, type CallView, escapeLine, type Message, ruleText } from '@holdfast/protocol'
import { useContext } from 'react'
import { durationText, outputText } from '../../text/format.ts'
import { callSummary } from '../../text/message-text.ts'
import { Collapsible } from '../../ui/collapsible.tsx'
import { ArgumentsView } from '../approval/preview-view.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import { PinButton, PinMark } from './pins.tsx'
import { messageElementId } from './show-message.ts'

type ToolCardProps = {
  readonly message: Extract<Message, { readonly kind: 'tool_call' }>
  /** Output so far, while it runs. */
  readonly liveOutput: string | undefined
}

const words: Record<CallStatus, string> = {
  waiting: 'waiting',
  running: 'running',
  complete: 'done',
  error: 'failed',
  denied: 'refused',
  interrupted: 'interrupted',
}

export function ToolCard({ message, liveOutput }: ToolCardProps) {
  const { asks } = useSession()
  const isWatching = useContext(WatchingContext) !== null // then it collapses on this page only
  const { call, collapsed, pinned } = message
  const status = call.approval ? 'needs approval' : words[call.status]
  const tool = escapeLine(call.tool)
  const summary = callSummary(call)
  const isLive = call.status === 'running' && liveOutput !== undefined
  return (
    <Collapsible
      className={`tool ${call.approval ? 'asked' : call.status}`}
      label={`${tool} ${summary}, ${status}`}
      elementId={messageElementId(message.id)}
      isOpenAtFirst={!collapsed}
      {...(!isWatching && { onFold: () => asks.toggleFold(message.id) })}
      head={
        <>
          <span className={`dot ${call.approval ? 'asked' : call.status}`} aria-hidden="true" />
          <span className="tool-name">{tool}</span>
          <code className="tool-summary">{summary}</code>
          <span className="tool-status">
            {call.status === 'complete' && call.durationMs !== null ? durationText(call.durationMs) : status}
          </span>
          {pinned && <PinMark />}
        </>
      }
    >
      {() => (
        <>
          <ArgumentsView args={call.args} />
          {isLive && <OutputView label="Output so far" text={liveOutput} />}
          {call.result && <OutputView label="Result" text={call.result.text} />}
          <p className="tool-foot">
            <span>{footOf(call)}</span>
            <PinButton message={message} />
          </p>
        </>
      )}
    </Collapsible>
  )
}

function OutputView({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="output" aria-label={label} tabIndex={0}>
      <pre>
        <code>{outputText(text) || '(nothing)'}</code>
      </pre>
    </section>
  )
}

function footOf({ status, durationMs, approvedBy, result }: CallView): string {
  const parts = [words[status]]
  if (durationMs !== null) parts.push(durationText(durationMs))
  if (approvedBy) parts.push('rule' in approvedBy ? escapeLine(ruleText(approvedBy.rule)) : 'approved by a person')
  if (result?.blob) parts.push(`shortened from ${result.blob.bytes.toLocaleString('en')} bytes`)
  return parts.join(' · ')
}
