import { escapeLine, HoldfastError, type ListedToken, type SharedSession } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { NeedsServer, useComebacks } from '../screens/needs-server.tsx'
import { agoText, relativeTime } from '../text/format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useHoldfast } from './holdfast-context.ts'

/** Returns whether the login of this page may share sessions: that of an admin. */
export function useMayShare(): boolean {
  const sharing = useHoldfast()
  const [may, setMay] = useState(false)
  useEffect(() => {
    let isLeft = false
    sharing.access().then(
      ({ role }) => !isLeft && setMay(role === 'admin'),
      () => undefined, // signed out, or not connected: then nothing can be shared either
    )
    return () => {
      isLeft = true
    }
  }, [sharing])
  return may
}

type ShareDialogProps = { readonly session: string; readonly onClose: () => void }

/** Creates a link that shows the session, and lists and revokes those that exist. */
export function ShareDialog({ session, onClose }: ShareDialogProps) {
  const sharing = useHoldfast()
  const [made, setMade] = useState<SharedSession | null>(null)
  const [links, setLinks] = useState<readonly ListedToken[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const comebacks = useComebacks()
  const [changes, setChanges] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change is read again
  useEffect(() => {
    let isLeft = false
    sharing.tokens.list().then(
      (tokens) => !isLeft && setLinks(tokens.filter((one) => one.session === session && one.role === 'viewer')),
      (error: unknown) => !isLeft && setProblem(messageOf(error)),
    )
    return () => {
      isLeft = true
    }
  }, [sharing, session, changes, comebacks])

  const attempt = async (work: () => Promise<void>) => {
    setProblem(null)
    await work().catch((error: unknown) => setProblem(messageOf(error)))
    setChanges((count) => count + 1)
  }
  const create = () => attempt(async () => setMade(await sharing.share(session)))
  const revoke = (id: string) =>
    attempt(async () => {
      await sharing.tokens.revoke(id)
      if (made?.token.id === id) setMade(null)
    })

  return (
    <Dialog title="Share this session" onClose={onClose}>
      <NeedsServer>
        <div className="share">
          <p>
            Anyone with the link can read this session as it grows, and nothing else. You can revoke it at any time.
          </p>
          {made === null ? (
            <button type="button" className="primary" onClick={create}>
              Create a link
            </button>
          ) : (
            <NewLink link={made.link} />
          )}
          {isLocalHost(location.hostname) && (
            <p className="share-local">
              This server is reached at {location.host}, so the link works on this machine only. Start it with an
              address that others reach to share with them.
            </p>
          )}
          {problem !== null && (
            <p className="fault" role="alert">
              {escapeLine(problem)}
            </p>
          )}
          {links !== null && links.length > 0 && (
            <section aria-label="Links">
              <h3>Links that work now</h3>
              <ul className="share-links">
                {links.map(({ id, name, createdAt }) => (
                  <li key={id}>
                    <span>
                      {escapeLine(name)} <small>created {agoText(relativeTime(createdAt, Date.now()))}</small>
                    </span>
                    <button type="button" onClick={() => revoke(id)}>
                      Revoke
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </NeedsServer>
    </Dialog>
  )
}

/** Shows a link that cannot be shown again. */
function NewLink({ link }: { readonly link: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(link).then(() => setCopied(true))
  return (
    <div className="share-new">
      <label>
        The link, shown only now
        <input readOnly value={link} onFocus={(event) => event.target.select()} />
      </label>
      {navigator.clipboard && (
        <button type="button" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
    </div>
  )
}

/** Returns whether an address leads to the machine of the reader. */
export const isLocalHost = (host: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(host)

const messageOf = (error: unknown): string => {
  if (error instanceof HoldfastError) return error.message
  throw error
}
