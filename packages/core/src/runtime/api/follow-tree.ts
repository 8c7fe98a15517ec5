import type { Frame, FrameOf, SessionId } from '@holdfast/protocol'
import type { SubagentRegistry } from '../subagents/subagents.ts'

type Follow = (id: SessionId, signal: AbortSignal) => AsyncIterable<Frame>

/**
 * Joins the stream of a session with those of all subagents below it. Each subagent is followed from a snapshot on, as any
 * subscriber follows a session, so that nothing of it is missed. A frame waits until the reader takes it.
 */
export async function* followTree(
  own: AsyncIterable<Frame>,
  { below }: Pick<SubagentRegistry, 'below'>,
  follow: Follow,
  id: SessionId,
): AsyncGenerator<Frame> {
  const ending = new AbortController()
  const followed = new Set<SessionId>()
  const offered: { readonly frame: Frame; readonly taken: () => void }[] = []
  let wake = Promise.withResolvers<void>()
  let failure: { readonly cause: unknown } | null = null
  let isOver = false

  const offer = (frame: Frame): Promise<void> =>
    new Promise((taken) => {
      offered.push({ frame, taken })
      wake.resolve()
    })
  const fail = (cause: unknown) => {
    failure ??= { cause }
    wake.resolve()
  }
  async function pump(child: SessionId): Promise<void> {
    for await (const frame of follow(child, ending.signal)) {
      if (ending.signal.aborted) return
      if (frame.type !== 'child') await offer({ type: 'child', sessionId: id, child, frame })
    }
    followed.delete(child)
  }
  function join(child: SessionId): void {
    if (followed.has(child)) return
    followed.add(child)
    pump(child).catch(fail)
  }
  async function pumpOwn(): Promise<void> {
    for await (const frame of own) {
      await offer(frame)
      if (frame.type === 'snapshot' || frame.type === 'model') for (const view of below(id)) join(view.id)
      if (isAboutChild(frame)) join(frame.child)
    }
    isOver = true
    wake.resolve()
  }
  pumpOwn().catch(fail)

  try {
    while (!isOver || offered.length > 0) {
      for (let next = offered.shift(); next; next = offered.shift()) {
        yield next.frame
        next.taken()
      }
      if (failure) throw (failure as { readonly cause: unknown }).cause
      if (isOver) continue
      await wake.promise
      wake = Promise.withResolvers()
    }
  } finally {
    ending.abort()
    for (const { taken } of offered) taken()
  }
}

const isAboutChild = (frame: Frame): frame is FrameOf<'child'> => frame.type === 'child'
