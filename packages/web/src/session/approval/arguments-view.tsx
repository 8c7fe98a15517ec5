import { escapeHidden, escapeLine } from '@holdfast/protocol'

type ArgumentsViewProps = { readonly args: Readonly<Record<string, unknown>> }

/** Shows the arguments of a call: text as text, the rest as JSON. */
export function ArgumentsView({ args }: ArgumentsViewProps) {
  const entries = Object.entries(args)
  if (entries.length === 0) return <p className="nothing">No arguments.</p>
  return (
    <dl className="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{escapeLine(name)}</dt>
          <dd>{escapeHidden(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined'))}</dd>
        </div>
      ))}
    </dl>
  )
}
