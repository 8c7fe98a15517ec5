const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const thisYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })

/** Returns how long ago, in short form. A time in the future is `now`. */
export function relativeTime(at: string, nowMs: number): string {
  const then = new Date(at)
  const agoMs = nowMs - then.getTime()
  if (Number.isNaN(agoMs)) return ''
  if (agoMs < minuteMs) return 'now'
  if (agoMs < hourMs) return `${Math.floor(agoMs / minuteMs)}m`
  if (agoMs < dayMs) return `${Math.floor(agoMs / hourMs)}h`
  if (agoMs < 7 * dayMs) return `${Math.floor(agoMs / dayMs)}d`
  return (then.getFullYear() === new Date(nowMs).getFullYear() ? thisYear : otherYear).format(then)
}
