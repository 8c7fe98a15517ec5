import { Component, type ComponentType, type ReactNode, useEffect, useState } from 'react'

type PartBoundaryProps = {
  /** Another value draws the part again. */
  readonly place: string
  readonly children: ReactNode
}

/** Draws a part of the page. If drawing it throws, it says so, and the rest of the page stays. */
export class PartBoundary extends Component<PartBoundaryProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidUpdate(before: PartBoundaryProps) {
    if (this.state.isBroken && before.place !== this.props.place) this.setState({ isBroken: false })
  }

  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <FailedPart
        title="This part of the page failed"
        text="Your sessions are safe: they run on the server."
        onRetry={() => this.setState({ isBroken: false })}
      />
    )
  }
}

type FailedPartProps = { readonly title: string; readonly text: string; readonly onRetry: () => void }

const FailedPart = ({ title, text, onRetry }: FailedPartProps) => (
  <main className="session-pane refused">
    <h1>{title}</h1>
    <p role="alert">{text}</p>
    <p className="choices">
      <button type="button" onClick={onRetry}>
        Try again
      </button>
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </p>
  </main>
)

/** A part whose code is loaded when it is first drawn. `Part` is null until then. */
type LazySource<Props> = { readonly load: () => Promise<ComponentType<Props>>; Part: ComponentType<Props> | null }

export const lazySource = <Props,>(load: () => Promise<ComponentType<Props>>): LazySource<Props> => ({
  load,
  Part: null,
})

type LazyPartProps<Props> = {
  readonly source: LazySource<Props>
  readonly props: Props
  /** Drawn until it is loaded. */
  readonly waiting: ReactNode
  /** Drawn instead of the note that the load failed. */
  readonly failed?: ReactNode
}

const retryMs = 3000

/**
 * Draws a part once its code is loaded. A load that fails, because the server is away or was upgraded, is tried again until
 * it succeeds: with `lazy` of React it would break the page until it is reloaded.
 */
export function LazyPart<Props extends object>({ source, props, waiting, failed }: LazyPartProps<Props>) {
  const [, setLoaded] = useState(false)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (source.Part !== null) return
    let isLeft = false
    let timer: ReturnType<typeof setTimeout> | undefined
    source.load().then(
      (part) => {
        source.Part = part
        if (!isLeft) setLoaded(true)
      },
      () => {
        if (!isLeft) timer = setTimeout(() => setTries(tries + 1), tries === 0 ? 0 : retryMs)
      },
    )
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [source, tries])
  if (source.Part !== null) return <source.Part {...props} />
  if (tries === 0) return waiting
  if (failed !== undefined) return failed
  return (
    <FailedPart
      title="This screen could not be loaded"
      text="The server does not respond, or it was upgraded. The page tries again by itself. If that does not help, reload it."
      onRetry={() => setTries(tries + 1)}
    />
  )
}
