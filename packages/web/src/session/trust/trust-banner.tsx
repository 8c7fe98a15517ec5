import type { JudgedOffer } from '@holdfast/protocol'
import { useContext, useId, useState } from 'react'
import { ReviewButton } from './review-dialog.tsx'
import { UntrustedContext } from './use-untrusted.ts'

/**
 * Says in one line that the folder of the session offers things that no person trusts yet. It has no button that trusts:
 * those come with what they trust, after "Review…". Hidden while there is nothing, or until later.
 */
export function TrustBanner({ workspace }: { readonly workspace: string }) {
  const { offers } = useContext(UntrustedContext)
  const later = useLater(workspace, offers)
  const title = useId()
  if (offers.length === 0 || later.isSet) return null
  return (
    <section className="trust-banner" aria-labelledby={title}>
      <p id={title}>
        {offers.length === 1 ? '1 thing waits' : `${offers.length.toLocaleString('en')} things wait`} for your trust.
      </p>
      <ReviewButton />
      <button type="button" className="quiet" onClick={later.set}>
        Not now
      </button>
    </section>
  )
}

/** Remembers in this tab that a person does not decide now. Another content of the files asks again. */
function useLater(workspace: string, offers: readonly JudgedOffer[]) {
  const key = `holdfast.later ${workspace}`
  const shown = offers.map(({ hash }) => hash).join(' ')
  const [chosen, setChosen] = useState(() => sessionStorage.getItem(key))
  return {
    isSet: chosen === shown,
    set() {
      sessionStorage.setItem(key, shown)
      setChosen(shown)
    },
  }
}
