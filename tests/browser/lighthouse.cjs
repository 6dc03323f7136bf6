// Prints what Lighthouse measures of each page, on its mobile profile, in one browser: rounds go through all the pages,
// so that what else the machine does meanwhile falls on all of them alike.
//
//     node lighthouse.cjs CHROME ROUNDS URL...
const [chromePath, rounds, ...urls] = process.argv.slice(2);

(async () => {
  const lighthouse = (await import(require.resolve("lighthouse"))).default;
  const { launch } = await import(require.resolve("chrome-launcher"));
  const chrome = await launch({ chromePath, chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
  try {
    for (let round = 0; round < Number(rounds); round += 1) {
      for (const url of urls) {
        const { lhr } = await lighthouse(url, { port: chrome.port, onlyCategories: ["performance"], logLevel: "error" });
        if (lhr.runtimeError) throw new Error(`${url}: ${lhr.runtimeError.message}`);
        const value = (name) => lhr.audits[name].numericValue;
        const measured = { blocking: value("total-blocking-time"), shift: value("cumulative-layout-shift") };
        console.log(JSON.stringify({ url, ...measured, score: lhr.categories.performance.score * 100 }));
      }
    }
  } finally {
    chrome.kill();
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
