import { Mark } from './ui/mark.tsx'

type SignedOutProps = { readonly onRetry: () => void }

/** Says how to log in: the server prints a link when it starts. */
export function SignedOut({ onRetry }: SignedOutProps) {
  return (
    <main className="signed-out">
      <Mark />
      <h1>You are signed out</h1>
      <p>
        Open the login link that the server prints when it starts. It works once, for ten minutes. To get a fresh one,
        start the server again:
      </p>
      <pre>
        <code>npm start</code>
      </pre>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </main>
  )
}
