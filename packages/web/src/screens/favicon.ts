/** Draws the icon of the tab: the mark, and how many sessions wait. */
export function drawFavicon(waiting: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!link) return
  link.dataset['plain'] ??= link.href
  if (link.href.startsWith('blob:')) URL.revokeObjectURL(link.href)
  link.href =
    waiting === 0
      ? link.dataset['plain']
      : URL.createObjectURL(new Blob([iconWithCount(waiting)], { type: 'image/svg+xml' }))
  link.dataset['waiting'] = String(waiting)
}

/** Returns an icon with a count, as SVG. It is an image, so that nothing in it can run. */
export const iconWithCount = (waiting: number): string =>
  [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    '<path d="M16 1 31 16 16 31 1 16z" fill="#b45309"/>',
    '<text x="16" y="22" font-family="sans-serif" font-size="17" font-weight="700" fill="#fff" text-anchor="middle">',
    `${waiting > 9 ? '9+' : waiting}</text></svg>`,
  ].join('')
