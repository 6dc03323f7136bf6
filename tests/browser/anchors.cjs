// Opens a page of source at some lines in Firefox, and prints for each line where it came to lie.
//
//     node anchors.cjs FIREFOX URL LINE...
const puppeteer = require("puppeteer-core");
const [executablePath, url, ...lines] = process.argv.slice(2);

// The top of the view is where code first shows below everything that stays there while the page scrolls.
const measure = (line) => {
  const at = document.getElementById(`L${line}`);
  const code = at.closest("pre");
  const box = at.getBoundingClientRect();
  const x = code.getBoundingClientRect().left + 60;
  let top = 0;
  while (top < innerHeight && !document.elementFromPoint(x, top)?.closest("pre, details, summary")) top += 1;
  const height = parseFloat(getComputedStyle(code).lineHeight);
  return { line, top, y: box.top, height, end: document.documentElement.scrollHeight - innerHeight - scrollY };
};

(async () => {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
  try {
    for (const line of lines) {
      const page = await browser.newPage();
      await page.setViewport({ width: 1440, height: 900 });
      await page.goto(`${url}#L${line}`);
      await new Promise((done) => setTimeout(done, 800));
      console.log(JSON.stringify(await page.evaluate(measure, Number(line))));
      await page.close();
    }
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
