/** Formats a time in the time zone of this machine, or in UTC, to the second. */
export function formatTime(iso: string, isUtc: boolean): string {
  const time = new Date(iso)
  if (isUtc) return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`
}
