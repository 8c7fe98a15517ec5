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

/** A part whose code is loaded when it is first drawn, or before. `Part` is null until then. */
type LazySource<Props> = { readonly load: () => Promise<ComponentType<Props>>; Part: ComponentType<Props> | null }

export const lazySource = <Props,>(load: () => Promise<ComponentType<Props>>): LazySource<Props> => ({
  load,
  Part: null,
})

/** Loads the code of a part. Refused if the server is away, or has another version of the page. */
async function loadPart<Props>(source: LazySource<Props>): Promise<void> {
  source.Part ??= await source.load()
}

type Loading = { load(): Promise<void> }

/** Returns what loads a part, for `loadEarly`, which does not need to know its props. */
export const loadingOf = <Props,>(source: LazySource<Props>): Loading => ({ load: () => loadPart(source) })

/**
 * Loads parts one after the other, before a person asks for them: a server that goes away later then takes none of them
 * along. It ends at the first that fails, because a browser may remember the failure.
 */
export async function loadEarly(parts: readonly Loading[], isLeft: () => boolean): Promise<void> {
  for (const part of parts) {
    if (isLeft()) return
    const isLoaded = await part.load().then(
      () => true,
      () => false,
    )
    if (!isLoaded) return
  }
}

const reloadedKey = 'holdfast.reloadedAt'
const reloadRestMs = 60_000

type Kept = Pick<Storage, 'getItem' | 'setItem'>

/**
 * Returns whether the page may reload itself now, and notes that it does. Not twice in a minute: a file that is missing on
 * the server would make it reload without end.
 */
export function mayReload(kept: Kept, nowMs: number): boolean {
  const before = Number(kept.getItem(reloadedKey) ?? Number.NEGATIVE_INFINITY)
  if (nowMs - before < reloadRestMs) return false
  kept.setItem(reloadedKey, String(nowMs))
  return true
}

type LazyPartProps<Props> = {
  readonly source: LazySource<Props>
  readonly props: Props
  /** Drawn until it is loaded. */
  readonly waiting: ReactNode
  /** Drawn instead of the note that the load failed. Then the page does not reload itself. */
  readonly failed?: ReactNode
}

const retryMs = 3000

/**
 * Draws a part once its code is loaded. A load that fails, because the server is away or was upgraded, is tried again until
 * it succeeds: with `lazy` of React it would break the page until it is reloaded. Chromium remembers that a file could not be
 * loaded and never asks for it again, so that the page reloads itself once the server responds.
 */
export function LazyPart<Props extends object>({ source, props, waiting, failed }: LazyPartProps<Props>) {
  const [, setLoaded] = useState(false)
  const [tries, setTries] = useState(0)
  const isScreen = failed === undefined
  useEffect(() => {
    if (source.Part !== null) return
    let isLeft = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const onFailed = async () => {
      const isBack = tries > 0 && isScreen && (await doesServerRespond())
      if (isLeft) return
      if (isBack && mayReload(sessionStorage, Date.now())) return location.reload()
      timer = setTimeout(() => setTries(tries + 1), tries === 0 ? 0 : retryMs)
    }
    loadPart(source).then(() => !isLeft && setLoaded(true), onFailed)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [source, tries, isScreen])
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

/** Asks for the page itself, past what the browser keeps. */
const doesServerRespond = (): Promise<boolean> =>
  fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => false,
  )
