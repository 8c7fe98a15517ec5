import { contextUsageOf } from '@holdfast/client'
import { limits, type Meta, type ProcessView, type SessionView } from '@holdfast/protocol'
import { contextHint, contextShort, contextSpoken, costText, tokensText } from '../../text/format.ts'
import { Popover } from '../../ui/popover.tsx'
import { useSession } from '../state/session-context.ts'

type ContextGaugeProps = {
  readonly meta: Pick<Meta, 'usage'>
  readonly view: SessionView
  /** Null when the session is not running here. */
  readonly here: ProcessView | null
  /** Why the history cannot be compacted now, or null. */
  readonly hold: string | null
}

/** Shows how full the context is and what the session cost so far. It explains both when it is opened. */
export function ContextGauge({ meta, view, here, hold }: ContextGaugeProps) {
  const { asks } = useSession()
  const { input, output, cacheRead, cacheWrite, cost } = meta.usage
  const context = here === null ? null : contextUsageOf({ view, here })
  const max = context?.contextTokens ?? limits.contextTokens
  const tokens = context?.tokens ?? view.tokens
  const percent = Math.min(100, Math.round((tokens / max) * 100))
  return (
    <Popover
      side="top"
      title="Context and cost"
      className="gauge-panel"
      trigger={
        <button
          type="button"
          className="chip gauge-button"
          aria-label={`Context ${percent} % full, ${costText(cost)}. Explain`}
        >
          <Ring share={tokens / max} isHigh={tokens > max * limits.compactAt} />
          {percent} %{cost !== null && cost > 0 && ` · ${costText(cost)}`}
        </button>
      }
    >
      {context !== null && (
        <p className="gauge">
          <meter
            aria-label="Context"
            aria-valuetext={contextSpoken(context)}
            min={0}
            max={max}
            optimum={0}
            high={max * limits.compactAt}
            value={Math.min(tokens, max)}
          />
          <span>{contextShort(context)} tokens</span>
        </p>
      )}
      <p>
        {context === null
          ? `The context holds ${tokensText(tokens)} tokens. Send a prompt to see how much room is left.`
          : contextHint(context)}{' '}
        The model reads all of it before each answer.
      </p>
      <dl className="gauge-figures">
        <Figure name="Read anew" text={`${tokensText(input + cacheWrite)} tokens`} />
        <Figure name="Read from the cache, which is cheaper" text={`${tokensText(cacheRead)} tokens`} />
        <Figure name="Written" text={`${tokensText(output)} tokens`} />
        <Figure
          name="Cost of the session so far"
          text={cost === null ? 'unknown, the model has no known price' : costText(cost)}
        />
      </dl>
      <button
        type="button"
        disabled={hold !== null}
        title={hold ?? 'Replace old messages in the context by a summary'}
        onClick={() => void asks.compact()}
      >
        Compact now
      </button>
    </Popover>
  )
}

const Figure = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
)

const round = 2 * Math.PI * 6

function Ring({ share, isHigh }: { readonly share: number; readonly isHigh: boolean }) {
  return (
    <svg className={isHigh ? 'ring high' : 'ring'} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="6" strokeDasharray={`${Math.min(1, share) * round} ${round}`} />
    </svg>
  )
}
