import { limits } from '@holdfast/protocol'
import { tokensText } from '../text/usage-text.ts'

type ContextGaugeProps = {
  readonly tokens: number
  /** How many the model takes; null when nobody runs the session who could say. */
  readonly max: number | null
}

/** How full the model's context is. Beyond the mark the past is summed up by itself. */
export function ContextGauge({ tokens, max }: ContextGaugeProps) {
  if (max === null) return <span className="gauge">{tokensText(tokens)} in context</span>
  const text = `${tokensText(tokens)} of ${tokensText(max)} tokens`
  return (
    <span
      className="gauge"
      title={`The model is told about ${text}. Beyond ${limits.compactAt * 100} % the past is summed up.`}
    >
      <meter
        aria-label="Context"
        aria-valuetext={text}
        min={0}
        max={max}
        optimum={0}
        high={max * limits.compactAt}
        value={Math.min(tokens, max)}
      />
      <span>
        {tokensText(tokens)} / {tokensText(max)}
      </span>
    </span>
  )
}
