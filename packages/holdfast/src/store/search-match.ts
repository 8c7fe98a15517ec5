import type { Meta } from '@holdfast/protocol'

/** Whether every word occurs in the title, the preview or the recent text, in whatever case. */
export function createSearchMatch(search: string | undefined): (meta: Meta) => boolean {
  const words = (search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return ({ title, preview, recentText }) => {
    const text = `${title}\n${preview}\n${recentText}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}
