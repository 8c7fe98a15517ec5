import { contextUsageOf } from '@holdfast/client'
import { limits, type ProcessView, type SessionView } from '@holdfast/protocol'
import { contextHint, contextShort, contextSpoken } from '../../text/context-text.ts'
import { tokensText } from '../../text/usage-text.ts'

type ContextGaugeProps = {
  readonly view: SessionView
  /** Null when the session is not running here. */
  readonly here: ProcessView | null
}

/** Shows how full the context is. Above the mark old messages are summarized automatically. */
export function ContextGauge({ view, here }: ContextGaugeProps) {
  if (here === null) return <span className="gauge">{tokensText(view.tokens)} in context</span>
  const context = contextUsageOf({ view, here })
  const { tokens, contextTokens } = context
  const max = contextTokens ?? limits.contextTokens
  return (
    <span className="gauge" title={contextHint(context)}>
      <meter
        aria-label="Context"
        aria-valuetext={contextSpoken(context)}
        min={0}
        max={max}
        optimum={0}
        high={max * limits.compactAt}
        value={Math.min(tokens, max)}
      />
      <span>{contextShort(context)}</span>
    </span>
  )
}
