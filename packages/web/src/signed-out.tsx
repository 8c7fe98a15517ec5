import type { RemoteHoldfast } from '@holdfast/client'
import { escapeLine, HoldfastError } from '@holdfast/protocol'
import { type FormEvent, useState } from 'react'
import { Mark } from './ui/elements.tsx'

type SignedOutProps = { readonly holdfast: Pick<RemoteHoldfast, 'logIn'>; readonly onRetry: () => void }

/** Says how to log in again: with a fresh link of the running server, or with a token. */
export function SignedOut({ holdfast, onRetry }: SignedOutProps) {
  return (
    <main className="signed-out">
      <Mark />
      <h1>Log in to Holdfast</h1>
      <p>
        This browser has no login, or it has ended. On the machine where the server runs, this opens the page logged in:
      </p>
      <pre>
        <code>holdfast open</code>
      </pre>
      <p>
        For another machine, run <code>holdfast login</code> there and open the link that it prints. It works once, for
        ten minutes.
      </p>
      <TokenForm holdfast={holdfast} onDone={onRetry} />
      <button type="button" onClick={onRetry}>
        Check again
      </button>
    </main>
  )
}

type TokenFormProps = { readonly holdfast: Pick<RemoteHoldfast, 'logIn'>; readonly onDone: () => void }

/** Logs in with a token. The page does not keep it: the server answers with a cookie. */
function TokenForm({ holdfast, onDone }: TokenFormProps) {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const logIn = async (event: FormEvent) => {
    event.preventDefault()
    const access = await holdfast.logIn(token.trim()).catch((error: unknown) => {
      if (!(error instanceof HoldfastError)) throw error
      setProblem(error.message)
      return null
    })
    if (access === null) return
    setToken('')
    if (access.role === 'viewer' && access.session !== null) location.assign(sharedHref(access.session))
    else onDone()
  }
  return (
    <form className="token-form" onSubmit={logIn}>
      <label>
        Or log in with a token
        <input
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      <button type="submit">Log in</button>
      {problem !== null && (
        <p className="fault" role="alert">
          {escapeLine(problem)}
        </p>
      )}
    </form>
  )
}

/** Returns the address of the page that only shows a session. */
export const sharedHref = (session: string): string => `/shared#/s/${session}`
