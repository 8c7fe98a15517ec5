import { errorMessage, escapeHidden, escapeLine, type JudgedOffer, noWorkdir } from '@holdfast/protocol'
import { useContext, useEffect, useId, useState } from 'react'
import { DiffView } from '../../diff/diff-view.tsx'
import { counted } from '../../text/format.ts'
import { useLive } from '../state/session-context.ts'
import { TrustContext } from '../state/trust-context.ts'

/** Lists what the folder of the session offers and no person trusts yet. Hidden while there is nothing, or until later. */
export function TrustBanner({ workspace, isWatching }: { readonly workspace: string; readonly isWatching: boolean }) {
  const { offers, problem, trust } = useUntrusted(workspace)
  const [isSending, setSending] = useState(false)
  const later = useLater(workspace, offers)
  const title = useId()
  if (offers.length === 0 || later.isSet) return null
  const grant = async (meant: readonly JudgedOffer[]) => {
    setSending(true)
    await trust(meant)
    setSending(false)
  }
  const off = { disabled: isSending || isWatching }
  return (
    <section className="trust-banner" aria-labelledby={title}>
      <p id={title}>
        The files of this folder bring {counted(offers.length, 'thing')} along that the agent does not use before you
        trust {offers.length === 1 ? 'it' : 'them'}. Read first: a stranger may have written it.
      </p>
      <ul>
        {offers.map((offer) => (
          <li key={`${offer.kind} ${offer.name}`}>
            <OfferDetails offer={offer} />
            <button type="button" {...off} aria-label={`Trust ${nameOf(offer)}`} onClick={() => grant([offer])}>
              Trust
            </button>
          </li>
        ))}
      </ul>
      {problem !== null && (
        <p className="fault" role="alert">
          {escapeLine(problem)}
        </p>
      )}
      <p className="trust-actions">
        {offers.length > 1 && (
          <button type="button" {...off} onClick={() => grant(offers)}>
            Trust all
          </button>
        )}
        <button type="button" className="quiet" onClick={later.set}>
          Not now
        </button>
      </p>
    </section>
  )
}

const nameOf = ({ kind, name }: JudgedOffer): string => `${kind} ${escapeLine(name)}`

/** Shows what an offer says, or what changed since it was trusted. */
function OfferDetails({ offer }: { readonly offer: JudgedOffer }) {
  const { kind, name, text, diff } = offer
  return (
    <details>
      <summary>
        {kind} <code>{escapeLine(name)}</code>
        {diff !== null && <span className="panel-about">changed since you trusted it</span>}
      </summary>
      {diff === null ? <pre>{escapeHidden(text)}</pre> : <DiffView diff={diff} isNamed />}
    </details>
  )
}

type Untrusted = { readonly offers: readonly JudgedOffer[]; readonly problem: string | null }

/** Loads the offers without trust, again after each turn: a call may have changed their files. */
function useUntrusted(workspace: string) {
  const { workspaceOffers, trustOffers } = useContext(TrustContext)
  const [{ offers, problem }, setUntrusted] = useState<Untrusted>({ offers: [], problem: null })
  const status = useLive(({ view }) => view?.status)
  const load = async (isLeft = () => false) => {
    if (workspace === noWorkdir) return
    // Without an admin login, or a folder that is gone, there is nothing to trust here.
    const found = await workspaceOffers(workspace).catch(() => null)
    if (!isLeft())
      setUntrusted({ offers: found?.offers.filter(({ verdict }) => verdict !== 'trusted') ?? [], problem: null })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the folder and what turns do change the answer
  useEffect(() => {
    let hasLeft = false
    load(() => hasLeft)
    return () => {
      hasLeft = true
    }
  }, [workspace, status])
  const trust = async (meant: readonly JudgedOffer[]) => {
    try {
      await trustOffers({ workdir: workspace, offers: meant.map(({ kind, name, hash }) => ({ kind, name, hash })) })
      await load()
    } catch (error) {
      await load() // a file changed since it was shown: shows it as it is now
      setUntrusted((now) => ({ ...now, problem: errorMessage(error) }))
    }
  }
  return { offers, problem, trust }
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
