import { escapeHidden, escapeLine, type JudgedOffer } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { DiffView } from '../../diff/diff-view.tsx'
import { counted } from '../../text/format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogButton } from '../../ui/dialog-button.tsx'
import { useArmed } from '../../ui/use-armed.ts'
import { WatchingContext } from '../state/session-context.ts'
import { UntrustedContext } from './use-untrusted.ts'

type ReviewButtonProps = { readonly className?: string; readonly label?: string }

/** Opens the list of what waits for trust. */
export const ReviewButton = ({ className, label }: ReviewButtonProps) => (
  <DialogButton className={className} label={label} dialog={(close) => <ReviewDialog onClose={close} />}>
    Review…
  </DialogButton>
)

/** Lists what the folder of the session offers and no person trusts yet, each with its text, and trusts it. */
function ReviewDialog({ onClose }: { readonly onClose: () => void }) {
  const { offers, problem, trust } = useContext(UntrustedContext)
  const watching = useContext(WatchingContext)
  const [isSending, setSending] = useState(false)
  // A trusted one leaves the list, and the next takes its place.
  const isArmed = useArmed(offers.map(({ hash }) => hash).join(' '))
  const grant = async (meant: readonly JudgedOffer[]) => {
    setSending(true)
    await trust(meant)
    setSending(false)
  }
  const off = { disabled: !isArmed || isSending || watching !== null, title: watching ?? undefined }
  const all = (
    <button type="button" {...off} onClick={() => grant(offers)}>
      Trust all
    </button>
  )
  return (
    <Dialog
      title="What this folder brings along"
      about={counted(offers.length, 'thing')}
      footer={offers.length > 1 && all}
      onClose={onClose}
    >
      <div className="dialog-body review">
        <p>The agent uses nothing of this before you trust it. Read first: a stranger may have written it.</p>
        {problem !== null && (
          <p className="fault" role="alert">
            {escapeLine(problem)}
          </p>
        )}
        <ul>
          {offers.map((offer) => (
            <li key={`${offer.kind} ${offer.name}`}>
              <OfferDetails offer={offer} isOpen={offers.length <= openMax || offer.verdict === 'changed'} />
              <button type="button" {...off} aria-label={`Trust ${nameOf(offer)}`} onClick={() => grant([offer])}>
                Trust
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

const nameOf = ({ kind, name }: JudgedOffer): string => `${kind} ${escapeLine(name)}`

/** Of more offers only those that changed are open at first: the others would fill pages. */
const openMax = 3

/** Shows what an offer says, or what changed since it was trusted. */
function OfferDetails({ offer, isOpen }: { readonly offer: JudgedOffer; readonly isOpen: boolean }) {
  const { kind, name, text, verdict, diff } = offer
  return (
    <details open={isOpen}>
      <summary>
        {kind} <code>{escapeLine(name)}</code>
        {verdict === 'changed' && <span className="panel-about">changed since you trusted it</span>}
      </summary>
      {diff === null ? <pre>{escapeHidden(text)}</pre> : <DiffView diff={diff} isNamed />}
    </details>
  )
}
