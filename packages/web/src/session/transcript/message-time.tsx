/** Shows when something was said; the whole date on hover. */
export const MessageTime = ({ at }: { readonly at: string }) => (
  <time className="message-time" dateTime={at} title={whole.format(new Date(at))}>
    {timeText(at, new Date())}
  </time>
)

const whole = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** Returns the time of a day; with the date if it was another day. */
export function timeText(at: string, now: Date): string {
  const then = new Date(at)
  if (Number.isNaN(then.getTime())) return ''
  const isToday = then.toDateString() === now.toDateString()
  return isToday ? clock.format(then) : `${day.format(then)}, ${clock.format(then)}`
}
