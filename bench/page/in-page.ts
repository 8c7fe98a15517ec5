/** Programs that run in the page. They are texts, because this side has no types of a browser. */

/** Returns when the page first painted something, since it was asked for. */
export const paintMs = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`

/** Goes to a session, and returns how long it takes until its last text is painted. */
export const openedMs = (hash: string, text: string): string => `new Promise((resolve) => {
  const began = performance.now()
  location.hash = ${JSON.stringify(hash)}
  const channel = new MessageChannel() // its message is a task after the frame: what was found is painted
  channel.port1.onmessage = () => resolve(performance.now() - began)
  const look = () => {
    const isDrawn = document.querySelector('[role="log"]')?.textContent.includes(${JSON.stringify(text)})
    requestAnimationFrame(isDrawn ? () => channel.port2.postMessage(null) : look)
  }
  look()
})`

/** Begins to note how long frames take and how long keys wait. */
export const observe = `(() => {
  const seen = { frames: [], delays: [] }
  window.seen = seen
  let last = null
  const next = (now) => {
    if (last !== null) seen.frames.push(now - last)
    last = now
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
  new PerformanceObserver((list) => {
    for (const { name, startTime, processingStart } of list.getEntries())
      if (name === 'keydown') seen.delays.push(processingStart - startTime)
  }).observe({ type: 'event', durationThreshold: 16 })
})()`

/** Scrolls up a bit each frame, as a wheel does. Returns the oldest prompt that is drawn. */
export const scrollUp = (frames: number): string => `new Promise((resolve) => {
  const box = document.querySelector('.transcript')
  let left = ${frames}
  const step = () => {
    if (left-- === 0) return resolve(document.querySelector('.user p')?.textContent)
    box.dispatchEvent(new WheelEvent('wheel', { deltaY: -120, bubbles: true }))
    box.scrollTop -= 120
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

/** The frames since `observe`. */
export type Frames = { readonly count: number; readonly long: number; readonly longest: number }
export const frames = (longMs: number): string => `(() => {
  const all = window.seen.frames
  return { count: all.length, long: all.filter((ms) => ms > ${longMs}).length, longest: Math.max(0, ...all) }
})()`

/** How long keys waited until the page handled them. The browser tells only of keys that took over 16 ms to be painted. */
export type Delays = { readonly count: number; readonly median: number; readonly longest: number }
export const inputDelays = `(() => {
  const all = window.seen.delays.toSorted((left, right) => left - right)
  return { count: all.length, median: all[Math.floor(all.length / 2)] ?? 0, longest: all.at(-1) ?? 0 }
})()`
