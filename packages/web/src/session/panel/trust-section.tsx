import { escapeLine } from '@holdfast/protocol'
import { useContext } from 'react'
import { ReviewButton } from '../trust/review-dialog.tsx'
import { UntrustedContext } from '../trust/use-untrusted.ts'
import { PanelSection } from './panel-section.tsx'

/** Lists what waits for trust, also after "Not now". Hidden while there is nothing. */
export function TrustSection() {
  const { offers } = useContext(UntrustedContext)
  if (offers.length === 0) return null
  return (
    <PanelSection title="Not trusted yet" about={<ReviewButton className="quiet" />}>
      <ul>
        {offers.map(({ kind, name, verdict }) => (
          <li key={`${kind} ${name}`}>
            <span>
              {kind} <code>{escapeLine(name)}</code>
              {verdict === 'changed' && ', changed'}
            </span>
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}
